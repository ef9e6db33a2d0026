"""References of images as container tools read them (fbc.md §6.3)."""

from __future__ import annotations

import re
from typing import Final

_HOST_PART: Final = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_HOST: Final = rf"{_HOST_PART}(?:\.{_HOST_PART})*(?::[0-9]+)?"
_PATH_PART: Final = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*+"
_TAG: Final = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
_DIGEST: Final = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_REFERENCE: Final = re.compile(rf"((?:{_HOST}/)?{_PATH_PART}(?:/{_PATH_PART})*)(?::{_TAG})?(?:@({_DIGEST}))?")
_IDENTIFIER: Final = re.compile(r"[a-f0-9]{64}")
_HEX_DIGITS: Final = {"sha256": 64, "sha384": 96, "sha512": 128}
_USUAL: Final = re.compile(
    r"[a-z0-9]+(?:-+[a-z0-9]+)*+(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*+)++(?:/[a-z0-9]+(?:[._-][a-z0-9]+)*+)++"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}+)?(?:@sha256:[a-f0-9]{64})?"
)
"""How nearly all of them look; quicker than taking a text apart."""
_LONGEST_NAME: Final = 255
_DEFAULT_HOST: Final = "docker.io"
_OTHER_DEFAULT: Final = "index.docker.io"
_INVALID: Final = "invalid reference format"


def why_not(text: str) -> str:
    """Why a text is no reference of an image, or an empty text."""
    if len(text) <= _LONGEST_NAME and _USUAL.fullmatch(text):
        return ""
    if _IDENTIFIER.fullmatch(text):
        return f"invalid repository name ({text}), cannot specify 64-byte hexadecimal strings"
    host, rest = _split(text)
    name = rest.partition(":")[0]
    if name.lower() != name:
        return f"{_INVALID}: repository name must be lowercase"
    match = _REFERENCE.fullmatch(f"{host}/{rest}")
    if match is None:
        return _INVALID
    if len(match[1]) > _LONGEST_NAME:
        return f"repository name must not be more than {_LONGEST_NAME} characters"
    return _wrong_digest(match[2]) if match[2] else ""


def _split(text: str) -> tuple[str, str]:
    """The registry and the rest, both spelled out; a first part without dot, colon or `localhost` is no registry."""
    host, slash, rest = text.partition("/")
    if not slash or not ("." in host or ":" in host or host == "localhost"):
        host, rest = _DEFAULT_HOST, text
    if host == _OTHER_DEFAULT:
        host = _DEFAULT_HOST
    if host == _DEFAULT_HOST and "/" not in rest:
        rest = f"library/{rest}"
    return host, rest


def _wrong_digest(digest: str) -> str:
    algorithm, _, digits = digest.partition(":")
    if algorithm not in _HEX_DIGITS:
        return "unsupported digest algorithm"
    if len(digits) != _HEX_DIGITS[algorithm]:
        return "invalid checksum digest length"
    return "" if digits.lower() == digits else "invalid checksum digest format"
