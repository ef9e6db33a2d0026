"""The life of one watch: list, watch, and list again when the server requires it."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Generic, Protocol, TypeVar

import aiohttp
import structlog

from eventing.watch.history import History, NoHistory
from eventing.watch.namespaced import Keys, ListedKeys
from eventing.watch.older_lists import Judge
from eventing.watch.outage import Outage, no_outage
from eventing.watch.stream import UNREADABLE, Stream
from eventing.watch.watch_health import WatchHealth
from shared.adapters.kube import ApiError
from shared.api.manifest import ReadOnly, resource_version_of
from shared.resource_versions import is_newer, newer

FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 10.0
"""Interval of attempts while the API server refuses this kind alone; after an outage a probe ends it (`outage`)."""
UNSERVED_PAUSE_SECONDS = 30.0
"""Interval of attempts for a kind that is not served; the CRD that adds it wakes the watch earlier (`retry_soon`)."""
CRD_SETTLE_SECONDS, CRD_SETTLE_PAUSE_SECONDS = 10.0, 0.25
"""Time and interval of attempts after `retry_soon`: a kind is served some time after its CRD is established."""
_OLDER_FAILURES = 3
"""As after so few failures, a list that is not believed is asked for again soon: it may tell the truth then."""
SHORT_WATCH_SECONDS = 1.0
"""A watch that the server ends earlier than this is renewed only after a pause."""

Result = TypeVar("Result", covariant=True)
"""The type of result that an observer makes from a change, e.g. `Event`."""
log = structlog.get_logger()


class Observer(Protocol[Result]):
    """Turns the changes that a watch receives into results."""

    def observe(self, change: str, manifest: ReadOnly) -> Sequence[Result]:
        """The results of one line of a watch; `change` is ADDED, MODIFIED or DELETED."""
        ...

    def page(self, items: Iterable[ReadOnly], listed: ListedKeys) -> Sequence[Result]:
        """The results of one page of a list; adds (namespace, name) of each object to `listed`."""
        ...

    def settle(self, listed: ListedKeys) -> Sequence[Result]:
        """The results for the known objects that are missing in the complete list."""
        ...


@dataclass(frozen=True, slots=True)
class _Trouble:
    """What an error says of the API server."""

    is_away: bool = False
    is_rejected: bool = False
    """It is there, and we do not know each other: its certificate, our token."""
    retry_after: float = 0.0
    """In how many seconds it wants to be asked again; 0: it did not say."""


_NO_TROUBLE: Final = _Trouble()


def _trouble(error: Exception) -> _Trouble:
    if not isinstance(error, ApiError):
        return _Trouble(is_away=True, is_rejected=isinstance(error, aiohttp.ClientSSLError))
    is_away = error.status >= HTTPStatus.INTERNAL_SERVER_ERROR or error.status in (0, HTTPStatus.TOO_MANY_REQUESTS)
    return _Trouble(is_away, error.status == HTTPStatus.UNAUTHORIZED, error.retry_after)


class KindWatch(Generic[Result]):
    """Watches one kind until cancelled, and resumes after the last delivered change."""

    def __init__(
        self,
        stream: Stream,
        observer: Observer[Result],
        deliver: Callable[[Sequence[Result]], Awaitable[None]],
        *,
        health: WatchHealth,
        seconds: int,
        outage: Outage | None = None,
        longest: float = LONGEST_PAUSE_SECONDS,
        history: History | None = None,
        judge: Judge | None = None,
    ) -> None:
        """`longest` is the interval of attempts, in seconds, while the API server refuses this kind alone.

        Without a `judge` every list is believed, and each 404, too: for an observer that the next list mends. One that
        keeps what others lean on has one (`kept`).
        """
        self.name = stream.kind.definition
        self._is_optional = bool(stream.kind.watch and stream.kind.watch.is_optional)
        self._observer = observer
        self._stream = stream
        self._deliver = deliver
        self._health = health
        self._seconds = seconds
        self._outage = outage or no_outage()
        self._longest = longest
        self._history = history or NoHistory()
        self._judge = judge
        self._newest = ""
        """The newest resourceVersion that the watch has had."""
        self._position = ""
        """The resourceVersion up to which all changes were delivered; empty: list first."""
        self._failures = 0
        self._was_away = False
        self._is_retrying_soon = asyncio.Event()
        self._settles_until = 0.0
        health.expect(self.name)

    def retry_soon(self) -> None:
        """Try again soon, because the CRD of this kind may just have changed."""
        self._failures = 0
        self._settles_until = asyncio.get_running_loop().time() + CRD_SETTLE_SECONDS
        self._is_retrying_soon.set()

    async def run(self) -> None:
        """List and watch, for ever."""
        while True:
            longest, trouble = self._longest, _NO_TROUBLE
            try:
                await self._turn()
                continue
            except ApiError as error:
                if error.is_expired:
                    self._position = ""
                    log.info("watch_relists", kind=self.name, reason=error.message)
                elif error.is_not_found and await self._is_unserved():
                    longest = UNSERVED_PAUSE_SECONDS
                    await self._vanish()
                    if self._is_optional and not self._is_crd_new:
                        await self._rest()
                        continue
                else:
                    trouble = _trouble(error)
                    self._complain("watch_refused", str(error))
            except (aiohttp.ClientError, TimeoutError, ValueError) as error:
                trouble = _trouble(error)
                self._complain("watch_broken", f"{type(error).__name__}: {error}")
            self._was_away |= trouble.is_away
            await self._pause(longest, trouble)

    async def _turn(self) -> None:
        if self._position and self._was_away and is_newer(self._position, await self._stream.version()):
            # why: a watch from a version that is yet to come is accepted, and tells nothing until then
            log.warning("watch_goes_back", kind=self.name, position=self._position)
            self._position = ""
        self._was_away = False
        if not self._position:
            await self._list()
        started = asyncio.get_running_loop().time()
        await self._follow()
        if asyncio.get_running_loop().time() - started < SHORT_WATCH_SECONDS:
            await self._pause(LONGEST_PAUSE_SECONDS)
        else:
            self._failures = 0

    async def _list(self) -> None:
        listed = Keys()
        position, newest = "", newer(self._newest, await self._history.newest())
        async for items, position in self._stream.pages():  # the last position is the one to use
            self._health.record_activity(self.name)
            if is_newer(newest, position):
                await self._accept(position)
                newest = ""
            await self._deliver(self._observer.page(items, listed))
        await self._deliver(self._observer.settle(listed))
        self._position = self._newest = position
        self._health.record_first_list(self.name)
        if newest and self._judge:
            self._judge.refuted()

    async def _accept(self, position: str) -> None:
        """Let a list be believed that is older than what was seen. ApiError when it is to be asked for again."""
        if self._judge and not await self._judge.believes(position):
            self._failures = min(self._failures, _OLDER_FAILURES)
            raise ApiError(0, "OlderState", f"a list of version {position}, older than what was seen before")
        self._newest = ""
        await self._history.forget()

    async def _follow(self) -> None:
        seconds = int(self._seconds * random.uniform(0.8, 1.0))  # noqa: S311  # why: twenty watches should not end at once
        async for changes in self._stream.changes(self._position, max(seconds, 1)):
            self._health.record_activity(self.name)
            found = [
                event
                for change in changes
                if change.type != "BOOKMARK"
                for event in self._observer.observe(change.type, change.object)
            ]
            await self._deliver(found)
            if changes:
                self._failures = 0
            versions = (resource_version_of(change.object) for change in reversed(changes) if change.type != UNREADABLE)
            self._position = next(filter(None, versions), self._position)
            self._newest = newer(self._position, self._newest)

    async def _vanish(self) -> None:
        """The kind is not served (any more): report all its known objects as deleted."""
        self._health.record_activity(self.name)
        self._position = ""
        await self._deliver(self._observer.settle(set()))
        self._health.record_first_list(self.name)

    async def _is_unserved(self) -> bool:
        """Whether a kind that was not found is not served; where there are objects to lose, discovery must say so."""
        if not self._judge or not self._judge.has_seen_any:
            return True
        try:
            return not await self._stream.is_served()
        except (ApiError, aiohttp.ClientError, TimeoutError, ValueError):
            return False

    async def _rest(self) -> None:
        """Ask for nothing until the definition of the kind is reported."""
        self._health.rest(self.name)
        await self._is_retrying_soon.wait()
        self._is_retrying_soon.clear()
        self._health.record_activity(self.name)

    @property
    def _is_crd_new(self) -> bool:
        return asyncio.get_running_loop().time() < self._settles_until

    def _complain(self, what: str, error: str) -> None:
        """Log a warning once per outage; later failures are logged at debug level."""
        level = logging.DEBUG if self._failures else logging.WARNING
        log.log(level, what, kind=self.name, error=error)

    async def _pause(self, longest: float, trouble: _Trouble = _NO_TROUBLE) -> None:
        if not trouble.is_rejected:  # while the API server is away, a restart would only make the watch later
            self._health.record_outage(self.name)
        if self._is_crd_new:
            longest = CRD_SETTLE_PAUSE_SECONDS
        seconds = trouble.retry_after or min(longest, FIRST_PAUSE_SECONDS * 2**self._failures)
        self._failures = min(self._failures + (not trouble.retry_after), 16)
        self._is_retrying_soon.clear()
        wakers: list[asyncio.Task[Any]] = [asyncio.create_task(self._is_retrying_soon.wait())]
        wakers += [asyncio.create_task(self._outage.over())] if trouble.is_away else []
        try:
            jitter = random.uniform(0.8, 1.2) + 0.2 * bool(trouble.retry_after)  # noqa: S311  # not before it is due
            await asyncio.wait(wakers, timeout=seconds * jitter, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for waker in wakers:
                waker.cancel()
