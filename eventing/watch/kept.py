"""A watch for an observer that keeps what it has seen: it loses nothing to a list that is old, empty or not found."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Generic

from eventing.watch.kind_watch import KindWatch, Observer, Result
from eventing.watch.namespaced import ListedKeys
from eventing.watch.older_lists import Judge, Restored, newest_of
from eventing.watch.skips import Guarded, Skips
from eventing.watch.stream import Stream
from eventing.watch.watch_health import WatchHealth
from shared.api.manifest import ReadOnly, name_of, namespace_of, resource_version_of


class Seen(Generic[Result]):
    """Passes everything on to another observer, and keeps the versions of the objects that are there."""

    def __init__(self, observer: Observer[Result]) -> None:
        self._observer = observer
        self._versions: dict[tuple[str, str], str] = {}

    @property
    def has_any(self) -> bool:
        """Whether there are any."""
        return bool(self._versions)

    def newest(self, most: int) -> list[tuple[tuple[str, str], str]]:
        """(namespace, name) and version of those that changed last, the newest first."""
        return newest_of(self._versions.items(), most)

    def observe(self, change: str, manifest: ReadOnly) -> Sequence[Result]:
        """One line of a watch."""
        if change == "DELETED":
            self._versions.pop(_key(manifest), None)
        else:
            self._versions[_key(manifest)] = resource_version_of(manifest)
        return self._observer.observe(change, manifest)

    def page(self, items: Iterable[ReadOnly], listed: ListedKeys) -> Sequence[Result]:
        """One page of a list."""
        found = tuple(items)
        self._versions |= {_key(one): resource_version_of(one) for one in found}
        return self._observer.page(found, listed)

    def settle(self, listed: ListedKeys) -> Sequence[Result]:
        """The end of a list."""
        self._versions = {key: version for key, version in self._versions.items() if key in listed}
        return self._observer.settle(listed)


def kept(
    stream: Stream,
    observer: Observer[Result],
    deliver: Callable[[Sequence[Result]], Awaitable[None]],
    *,
    health: WatchHealth,
    seconds: int,
) -> KindWatch[Result]:
    """The watch, which is not running yet; an object that the observer cannot handle is skipped."""
    seen = Seen(observer)
    return KindWatch(
        stream, Guarded(seen, stream.kind, Skips()), deliver,
        health=health, seconds=seconds, judge=Judge(seen, stream.version_of, Restored()),
    )  # fmt: skip


def _key(manifest: ReadOnly) -> tuple[str, str]:
    return namespace_of(manifest), name_of(manifest)
