"""An observer whose events become others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from eventing.events.event import Event
from eventing.watch.kind_watch import Observer
from eventing.watch.namespaced import ListedKeys
from shared.api.manifest import ReadOnly


class Translated:
    """Passes on what `translate` makes of the events of an observer."""

    def __init__(self, observer: Observer[Event], translate: Callable[[Sequence[Event]], Sequence[Event]]) -> None:
        self._observer = observer
        self._translate = translate

    def observe(self, change: str, manifest: ReadOnly) -> Sequence[Event]:
        """One line of a watch."""
        return self._translate(self._observer.observe(change, manifest))

    def page(self, items: Iterable[ReadOnly], listed: ListedKeys) -> Sequence[Event]:
        """One page of a list."""
        return self._translate(self._observer.page(items, listed))

    def settle(self, listed: ListedKeys) -> Sequence[Event]:
        """The end of a list."""
        return self._translate(self._observer.settle(listed))
