"""Keeps up to date what lives as long as objects of a kind do: connections to servers, watches of other kinds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeAlias

from eventing.events.event import Event
from eventing.watch.kind_watch import Observer
from shared.api.manifest import ReadOnly, name_of, namespace_of

Key: TypeAlias = tuple[str, str]
"""Namespace and name of an object."""


class Follower(Protocol):
    """What follows the objects of a kind."""

    def put(self, manifest: ReadOnly) -> None:
        """An object, as it is now."""
        ...

    def drop(self, key: Key) -> None:
        """The object is gone."""
        ...

    def keep(self, listed: set[Key]) -> None:
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

    def page(self, items: Iterable[ReadOnly], listed: set[Key]) -> Sequence[Event]:
        """One page of a list."""
        found = tuple(items)
        for item in found:
            self._follower.put(item)
        return self._observer.page(found, listed)

    def settle(self, listed: set[Key]) -> Sequence[Event]:
        """The end of a list."""
        self._follower.keep(listed)
        return self._observer.settle(listed)
