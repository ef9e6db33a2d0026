"""What the conditions and the range of a request ask for (RFC 9110 §13, §14), as Go's file server answers them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

from shared.adapters.http_requests import Headers

_PACKED: Final = "+"
"""In a tag, before the coding of content that is packed."""
_RANGE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


@dataclass(frozen=True, slots=True)
class Version:
    """Which state of which content is answered with."""

    tag: str
    """Of the content as it is; packed it is another one."""
    modified: datetime

    def header(self, coding: str = "") -> str:
        """The ETag in a content coding."""
        return f'"{self.tag}{_PACKED}{coding}"' if coding else f'"{self.tag}"'

    def is_among(self, tags: str) -> bool:
        """Whether a list of tags names this state, in any coding."""
        listed = {one.strip().removeprefix("W/").strip('"').partition(_PACKED)[0] for one in tags.split(",")}
        return not listed.isdisjoint(("*", self.tag))


def precondition(headers: Headers, version: Version) -> HTTPStatus | None:
    """The status that ends a request before its content, or None."""
    if desired := headers.get("If-Match"):
        if not version.is_among(desired):
            return HTTPStatus.PRECONDITION_FAILED
    elif (limit := _date(headers.get("If-Unmodified-Since"))) and version.modified > limit:
        return HTTPStatus.PRECONDITION_FAILED
    if known := headers.get("If-None-Match"):
        return HTTPStatus.NOT_MODIFIED if version.is_among(known) else None
    since = _date(headers.get("If-Modified-Since"))
    return HTTPStatus.NOT_MODIFIED if since and version.modified <= since else None


def span(headers: Headers, version: Version, size: int) -> tuple[int, int] | None:
    """The range of bytes that is asked for; None when it is outside of the content."""
    whole = (0, size)
    found = _RANGE.fullmatch(headers.get("Range"))
    if found is None or found[0] == "bytes=-" or not size:
        return whole  # several ranges are answered with everything, which is allowed
    if (
        (condition := headers.get("If-Range"))
        and condition != version.header()
        and _date(condition) != version.modified
    ):
        return whole
    if not found[1]:
        start, end = max(0, size - int(found[2])), size
    else:
        start, end = int(found[1]), min(int(found[2]) + 1 if found[2] else size, size)
    return (start, end) if start < end else None


def _date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text) if text else None
    except (ValueError, OverflowError):
        return None  # a date that cannot be read is none
    return found.replace(tzinfo=UTC) if found and found.tzinfo is None else found
