"""Watches of PackageManifests: JSON lines, from a resourceVersion on."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

import orjson
from aiohttp import web

from eventing.packages.documents import failure, table
from eventing.packages.package_cache import Change, Expired, PackageCache
from eventing.packages.sending import send
from shared.domain.serving.package_list import Listed, visible
from shared.domain.serving.package_manifest import API_VERSION, KIND

_MOST_DIGITS = 20
_LONGEST_SECONDS: Final = 3_600
_RENEW_SECONDS: Final = 55.0
"""Between two looks whether the client is still there, and two bookmarks."""


@dataclass(slots=True)
class Watching:
    """What one client watches, and in which form."""

    namespace: str
    global_namespace: str
    fits: Callable[[Listed], bool]
    is_table: bool
    _is_begun: bool = field(default=False, init=False)

    def lines(self, changes: Iterable[Change]) -> Iterator[bytes]:
        """The lines about those changes that this client may see."""
        for change in changes:
            if [*visible((change.package,), self.namespace, self.global_namespace)] and self.fits(change.package):
                yield self._line(change)

    def _line(self, change: Change) -> bytes:
        if self.is_table:
            version, has_columns, self._is_begun = str(change.version), not self._is_begun, True
            found = (change.package,)
            shown = b"".join(table(found, self.namespace, version, now=datetime.now(UTC), has_columns=has_columns))
        else:
            shown = change.package.json(self.namespace)
        return orjson.dumps({"type": change.type, "object": orjson.Fragment(shown)}) + b"\n"


async def follow(request: web.Request, cache: PackageCache, watching: Watching) -> web.StreamResponse:
    """Send what there is, or what changed since the resourceVersion; then each change, until the time is over."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    since = request.query.get("resourceVersion", "")
    with contextlib.suppress(ConnectionResetError, TimeoutError):
        async with asyncio.timeout(_seconds(request)):
            await response.prepare(request)
            position = cache.version
            if since in ("", "0"):
                await send(response, watching.lines(Change(position, "ADDED", one) for one in cache.packages()))
            else:
                position = _number(since)
            try:
                await _rest(request, response, cache, watching, position=position)
            except Expired as error:
                status = orjson.Fragment(failure(410, "Expired", str(error)))
                await response.write(orjson.dumps({"type": "ERROR", "object": status}) + b"\n")
    return response


async def _rest(
    request: web.Request, response: web.StreamResponse, cache: PackageCache, watching: Watching, *, position: int
) -> None:
    """Each change after a version, for as long as the client is there."""
    has_bookmarks = "allowWatchBookmarks" in request.query
    while request.transport is not None and not request.transport.is_closing():
        changes = cache.changes_after(position)
        await send(response, watching.lines(changes))
        position = changes[-1].version if changes else position
        try:
            async with asyncio.timeout(_RENEW_SECONDS):
                await cache.changed_after(position)
        except TimeoutError:
            if has_bookmarks:
                await response.write(_bookmark(position))


def _bookmark(version: int) -> bytes:
    found = {"kind": KIND, "apiVersion": API_VERSION, "metadata": {"resourceVersion": str(version)}}
    return orjson.dumps({"type": "BOOKMARK", "object": found}) + b"\n"


def _seconds(request: web.Request) -> float:
    asked = _number(request.query.get("timeoutSeconds", ""))
    if 0 < asked <= _LONGEST_SECONDS:
        return float(asked)
    return _LONGEST_SECONDS / 2 * random.uniform(1, 2)  # noqa: S311  # why: clients should not all come back at once


def _number(text: str) -> int:
    """A number of our own counting, or of seconds; -1 for what is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < _MOST_DIGITS else -1
