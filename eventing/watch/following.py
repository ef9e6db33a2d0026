"""Keeps up to date what lives as long as objects of a kind do: connections to servers, watches of other kinds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from eventing.events.event import Event
from eventing.watch.kind_watch import Observer
from eventing.watch.namespaced import Key, ListedKeys
from shared.api.manifest import ReadOnly, name_of, namespace_of


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
    """An observer that tells a follower of every object, and passes every change on."""

    def __init__(self, observer: Observer[Event], follower: Follower) -> None:
        self._observer = observer
        self._follower = follower

    def observe(self, change: str, manifest: ReadOnly) -> Sequence[Event]:
        """One line of a watch."""
        if change == "DELETED":
            self._follower.drop((namespace_of(manifest), name_of(manifest)))
        else:
            self._follower.put(manifest)
        return self._observer.observe(change, manifest)

    def page(self, items: Iterable[ReadOnly], listed: ListedKeys) -> Sequence[Event]:
        """One page of a list."""
        found = tuple(items)
        for item in found:
            self._follower.put(item)
        return self._observer.page(found, listed)

    def settle(self, listed: ListedKeys) -> Sequence[Event]:
        """The end of a list."""
        self._follower.keep(listed)
        return self._observer.settle(listed)
