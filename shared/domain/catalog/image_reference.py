"""References of images as container tools read them (fbc.md §6.3): `[host[:port]/]path[:tag][@digest]`."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_HOST_PART: Final = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_ADDRESS: Final = r"\[[0-9a-fA-F:]+\]"
_HOST: Final = rf"(?:{_HOST_PART}(?:\.{_HOST_PART})*|{_ADDRESS})(?::[0-9]+)?"
_PATH_PART: Final = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_TAG: Final = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
_DIGEST: Final = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_REFERENCE: Final = re.compile(rf"(?:({_HOST})/)?({_PATH_PART}(?:/{_PATH_PART})*)(?::({_TAG}))?(?:@({_DIGEST}))?")
_IDENTIFIER: Final = re.compile(r"[a-f0-9]{64}")
_HEX_DIGITS: Final = {"sha256": 64, "sha384": 96, "sha512": 128}
_WHOLE_DIGEST: Final = re.compile("|".join(rf"{name}:[0-9a-f]{{{count}}}" for name, count in _HEX_DIGITS.items()))
_USUAL: Final = re.compile(
    r"[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)+(?:/[a-z0-9]+(?:[._-][a-z0-9]+)*)+"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}+)?(?:@sha256:[a-f0-9]{64})?"
)
"""How nearly all of them look; quicker than taking a text apart."""
_LONGEST_NAME: Final = 255
_DEFAULT_HOST: Final = "docker.io"
_OTHER_DEFAULT: Final = "index.docker.io"
_INVALID: Final = "invalid reference format"

_LOGIN: Final = re.compile(r"^(\s*+(?:[a-z]++://)?).*@(?=[^@]+/)", re.DOTALL)
"""A user name and a password, before a host."""


class ImageName(NamedTuple):
    """The parts of a reference; tag and digest may be empty."""

    host: str
    """The registry, spelled out where the text leaves it out; empty when no host has its name, such as `a_b.c`."""
    path: str
    tag: str
    digest: str


def parsed(text: str) -> ImageName | str:
    """The parts of a reference, or why the text is not a reference."""
    if _IDENTIFIER.fullmatch(text):
        return f"invalid repository name ({text}), cannot specify 64-byte hexadecimal strings"
    host, rest = _split(text)
    name = rest.partition(":")[0]
    if name.lower() != name:
        return f"{_INVALID}: repository name must be lowercase"
    match = _REFERENCE.fullmatch(f"{host}/{rest}")
    if match is None:
        return _INVALID
    found = ImageName(*(part or "" for part in match.groups()))
    if len(f"{found.host}/{found.path}") > _LONGEST_NAME:
        return f"repository name must not be more than {_LONGEST_NAME} characters"
    return _wrong_digest(found.digest) or found


def why_not(text: str) -> str:
    """Why a text is not an image reference to `opm`; empty when it is one."""
    if len(text) <= _LONGEST_NAME and _USUAL.fullmatch(text):
        return ""
    found = parsed(text)
    if isinstance(found, str):
        return found
    return _INVALID if found.host.startswith("[") else ""  # it knows no IPv6 addresses


def why_not_canonical(text: str) -> str:
    """Why a text is not an image reference that names its registry; empty when it is one."""
    found = parsed(text)
    if isinstance(found, str):
        return found
    return "" if text.startswith(f"{found.host}/{found.path}") else "repository name must be canonical"


def is_digest(text: str) -> bool:
    """Whether a text is a digest of an algorithm that is known."""
    return _WHOLE_DIGEST.fullmatch(text) is not None


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
    if not digest or is_digest(digest):
        return ""
    if algorithm not in _HEX_DIGITS:
        return "unsupported digest algorithm"
    return "invalid checksum digest " + ("length" if len(digits) != _HEX_DIGITS[algorithm] else "format")


def without_login(text: str) -> str:
    """A text that somebody wrote for a reference, without the password that does not belong there."""
    return _LOGIN.sub(r"\1***@", text)
