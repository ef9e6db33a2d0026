"""Reads the address of a server of the registry API: `host:port`, `grpcs://host:port` with TLS (catalog.md §2.9.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

SECURE: Final = "grpcs://"
_MOST: Final = 65535
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]+|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(?:%[A-Za-z_-][A-Za-z0-9_.-]*)?")
"""A name or an address: what else there may be would be decoded by gRPC, and reach a proxy as lines of its own."""


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where a server is, and whether it speaks TLS."""

    host: str
    port: int
    is_secure: bool = False

    @classmethod
    def parse(cls, text: str) -> ServerAddress:
        """The address in `spec.address`. ValueError in OLM's words, e.g. `address foo: missing port in address`."""
        plain = text.removeprefix(SECURE)
        host, port = _split(plain)
        if not _NAME.fullmatch(host) or not (port.isascii() and port.isdigit() and 0 < int(port) <= _MOST):
            raise ValueError(f"address {text}: wanted host:port")
        return cls(host, int(port), plain != text)


def _split(text: str) -> tuple[str, str]:
    host, colon, port = text.rpartition(":")
    if text.startswith("["):
        inside, bracket, rest = text[1:].partition("]")
        if not bracket:
            raise ValueError(f"address {text}: missing ']' in address")
        if not rest.startswith(":"):
            raise ValueError(f"address {text}: missing port in address")
        host, port = inside, rest[1:]
        if ":" in port:
            raise ValueError(f"address {text}: too many colons in address")
    elif not colon:
        raise ValueError(f"address {text}: missing port in address")
    elif ":" in host:
        raise ValueError(f"address {text}: too many colons in address")
    for one in "[]":
        if one in host + port:
            raise ValueError(f"address {text}: unexpected '{one}' in address")
    return host, port
