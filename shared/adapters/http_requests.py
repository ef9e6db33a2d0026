"""The heads of HTTP/1 requests and answers, as a server reads and writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

LONGEST_HEAD: Final = 64 * 1024
"""Bytes of the request line and all headers."""
_MOST_HEADERS: Final = 100
END: Final = b"\r\n\r\n"
"""Of a head."""


class BadRequestError(Exception):
    """What came is no request that can be answered."""

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status.phrase)
        self.status = status


class Headers(dict[str, str]):
    """Headers by name, in whatever case; one that comes several times is one with commas (RFC 9110 §5.3)."""

    def get(self, name: str, default: str = "") -> str:  # type: ignore[override]  # why: one kind of default
        """The value of a header."""
        return dict.get(self, name.lower(), default)

    def __contains__(self, name: object) -> bool:
        return dict.__contains__(self, str(name).lower())


@dataclass(frozen=True, slots=True)
class Head:
    """A request without its body."""

    method: str
    target: str
    headers: Headers
    is_old: bool
    """HTTP/1.0."""

    @property
    def is_last(self) -> bool:
        """Whether the connection ends with the answer."""
        connection = self.headers.get("Connection").lower()
        return connection != "keep-alive" if self.is_old else "close" in connection

    @property
    def has_body(self) -> bool:
        """Whether a body follows."""
        return "Transfer-Encoding" in self.headers or self.headers.get("Content-Length", "0") != "0"

    def is_longer(self, most: int) -> bool:
        """Whether it says that its body has more bytes."""
        length = self.headers.get("Content-Length", "0")
        return length.isdecimal() and len(length) < 19 and int(length) > most

    def length(self, most: int) -> int:
        """The length of its body. BadRequestError when it has more than `most` bytes, or does not say how many."""
        if "Transfer-Encoding" in self.headers:
            raise BadRequestError(HTTPStatus.LENGTH_REQUIRED)
        length = self.headers.get("Content-Length", "0")
        if not (length.isascii() and length.isdigit() and len(length) < 19):
            raise BadRequestError(HTTPStatus.BAD_REQUEST)
        if int(length) > most:
            raise BadRequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        return int(length)


def parsed(head: bytes) -> Head:
    """A head, up to the empty line behind it. BadRequestError."""
    first, *lines = head.removesuffix(END).decode("latin-1").lstrip("\r\n").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[0].isalpha() or not words[1]:
        raise BadRequestError(HTTPStatus.BAD_REQUEST)
    if words[2] not in ("HTTP/1.1", "HTTP/1.0"):
        raise BadRequestError(HTTPStatus.HTTP_VERSION_NOT_SUPPORTED)
    return Head(words[0], words[1], _headers(lines), words[2] == "HTTP/1.0")


def _headers(lines: list[str]) -> Headers:
    if len(lines) > _MOST_HEADERS:
        raise BadRequestError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
    found = Headers()
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise BadRequestError(HTTPStatus.BAD_REQUEST)
        name, value = name.lower(), value.strip()
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def head_of(status: HTTPStatus, headers: Mapping[str, str]) -> bytes:
    """The head of an answer."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status.value} {status.phrase}\r\n{lines}\r\n".encode("latin-1")
