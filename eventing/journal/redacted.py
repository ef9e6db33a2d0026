"""What was redacted: finds the stand-ins in it, and puts others in their places."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Any

import msgspec

from eventing.journal.encoded import Allowance, Unreadable, opened
from eventing.journal.redact import STAND_IN, may_hold_secret, word

_MARKS = (b"redacted:", base64.b64encode(b"redacted:"))
"""JSON text that holds a stand-in has one of these, or still looks as if it held a secret."""


def holds_stand_in(value: Any) -> bool:
    """Whether something in a recorded value was replaced, so that whoever hashes it finds another hash."""
    match value:
        case dict():
            return any(map(holds_stand_in, value.values()))
        case list() | tuple():
            return any(map(holds_stand_in, value))
        case str():
            if STAND_IN.search(value):
                return True
            try:
                layer = opened(value, Allowance())
                return layer is not None and holds_stand_in(layer.inner)
            except (Unreadable, RecursionError):
                return False
    return False


def renamed(text: bytes, *, key: bytes) -> bytes:
    """JSON text with other stand-ins, made of those in it under that key: equal ones are still equal."""
    if not (any(mark in text for mark in _MARKS) or may_hold_secret(text)):
        return text

    def rename(found: re.Match[str]) -> str:
        return word(found[0], key)

    try:
        value = msgspec.json.decode(text)
        return text if (found := _renamed(value, rename)) == value else msgspec.json.encode(found)
    except RecursionError:  # what is nested so deeply is not opened
        return STAND_IN.sub(rename, text.decode()).encode()


def _renamed(value: Any, rename: Callable[[re.Match[str]], str]) -> Any:
    match value:
        case dict():
            return {key: _renamed(item, rename) for key, item in value.items()}
        case list():
            return [_renamed(item, rename) for item in value]
        case str():
            try:
                layer = opened(value, Allowance())
                inner = layer and _renamed(layer.inner, rename)
            except (Unreadable, RecursionError):
                layer = None
            if layer is None:
                return STAND_IN.sub(rename, value)
            return value if inner == layer.inner else layer.close(inner)
    return value
