"""Keeps up to date what lives as long as objects of a kind do: metrics, connections to servers, other watches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from eventing.events.event import Event
from eventing.watch.kind_watch import Observer
from eventing.watch.namespaced import Key, ListedKeys
from eventing.watch.skips import Skips
from shared.api.manifest import ReadOnly, name_of, namespace_of
from shared.kinds import Kind


class Follower(Protocol):
    """What follows the objects of a kind."""

    def put(self, manifest: ReadOnly) -> None:
        """An object, as it is now."""
        ...

    def drop(self, key: Key) -> None:
        """The object is gone."""
        ...

    def keep(self, listed: ListedKeys) -> None:
        """Only these objects are left."""
        ...


class Following:
    """An observer that passes every change on, and then tells a follower of it.

    What the follower cannot handle it does not follow: the events of the object are made nevertheless.
    """

    def __init__(self, observer: Observer[Event], follower: Follower, kind: Kind, skips: Skips) -> None:
        self._observer = observer
        self._follower = follower
        self._kind = kind
        self._skips = skips

    def observe(self, change: str, manifest: ReadOnly) -> Sequence[Event]:
        """One line of a watch."""
        found = self._observer.observe(change, manifest)
        key = namespace_of(manifest), name_of(manifest)
        with self._skipping(f"{key}"):
            if change == "DELETED":
                self._follower.drop(key)
            else:
                self._follower.put(manifest)
        return found

    def page(self, items: Iterable[ReadOnly], listed: ListedKeys) -> Sequence[Event]:
        """One page of a list."""
        present = tuple(items)
        found = self._observer.page(present, listed)
        for item in present:
            with self._skipping(f"{namespace_of(item), name_of(item)}"):
                self._follower.put(item)
        return found

    def settle(self, listed: ListedKeys) -> Sequence[Event]:
        """The end of a list."""
        found = self._observer.settle(listed)
        with self._skipping("the end of a list"):
            self._follower.keep(listed)
        return found

    @contextmanager
    def _skipping(self, what: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001  # why: whatever an object holds, its events were made
            self._skips.note(self._kind.kind, what, error, line="object_not_followed")
