"""Checks numbers in requests, with the messages of Go's `strconv`."""

from __future__ import annotations

import re

_INT64 = range(-(2**63), 2**63)
_UINT64 = range(2**64)
_MOST_DIGITS = 20


def not_signed(text: str) -> str:
    """Why a text is not a signed number of 64 bits; empty when it is one."""
    return _defect("ParseInt", text, r"[+-]?[0-9]+", _INT64)


def not_unsigned(text: str) -> str:
    """Why a text is not an unsigned number of 64 bits; empty when it is one."""
    return _defect("ParseUint", text, r"[0-9]+", _UINT64)


def _defect(function: str, text: str, syntax: str, fitting: range) -> str:
    if not re.fullmatch(syntax, text):
        why = "invalid syntax"
    elif len(text.lstrip("+-0")) > _MOST_DIGITS or int(text) not in fitting:
        why = "value out of range"
    else:
        return ""
    return f'strconv.{function}: parsing "{text}": {why}'
