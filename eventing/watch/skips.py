"""What the watcher could not make an event of, pass on or follow: counted and logged, so that nothing else waits."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic

import structlog

from eventing.metrics.exposition import Series
from eventing.watch.kind_watch import Observer, Result
from eventing.watch.namespaced import ListedKeys
from eventing.watch.stream import UNREADABLE
from shared.api.manifest import ReadOnly, name_of, namespace_of
from shared.kinds import Kind
from shared.telemetry import Metric

SILENT_SECONDS = 1.0
"""Of each kind one line a second is logged: one object may change all the time. The metric counts all of them."""
log = structlog.get_logger()


@dataclass(slots=True)
class Skips:
    """The objects and events that were skipped, by kind."""

    clock: Callable[[], float] = time.monotonic
    counts: Counter[str] = field(default_factory=Counter)
    _logged: dict[str, float] = field(default_factory=dict)

    def note(self, kind: str, what: str, error: Exception, *, line: str = "event_skipped") -> None:
        """Record one of them; `line` is the name of the line in the log."""
        self.counts[kind] += 1
        now = self.clock()
        if now - self._logged.get(kind, -SILENT_SECONDS) < SILENT_SECONDS:
            return
        self._logged[kind] = now
        reason = f"{type(error).__name__}: {error}"
        log.warning(line, kind=kind, object=what[:300], skipped=self.counts[kind], error=reason[:300])

    def values(self) -> Mapping[Series, float]:
        """The metric."""
        metric = Metric.olmf_skipped_events_total
        return {Series(metric, (("kind", kind),)): count for kind, count in sorted(self.counts.items())}


class Guarded(Generic[Result]):
    """An observer that passes each object alone to another one, and skips those that it cannot handle."""

    def __init__(self, observer: Observer[Result], kind: Kind, skips: Skips) -> None:
        self._observer = observer
        self._kind = kind
        self._skips = skips

    def observe(self, change: str, manifest: ReadOnly) -> Sequence[Result]:
        """One line of a watch."""
        if change == UNREADABLE:
            self._skips.note(self._kind.kind, "in a line of the watch", ValueError(str(manifest["error"])))
            return ()
        return self._each(manifest, lambda: self._observer.observe(change, manifest))

    def page(self, items: Iterable[ReadOnly], listed: ListedKeys) -> Sequence[Result]:
        """One page of a list."""
        return [one for item in items for one in self._one_of_page(item, listed)]

    def settle(self, listed: ListedKeys) -> Sequence[Result]:
        """The end of a list."""
        return self._observer.settle(listed)

    def _one_of_page(self, item: ReadOnly, listed: ListedKeys) -> Sequence[Result]:
        return self._each(item, lambda: self._observer.page((item,), listed))

    def _each(self, manifest: ReadOnly, convert: Callable[[], Sequence[Result]]) -> Sequence[Result]:
        try:
            return convert()
        except Exception as error:  # noqa: BLE001  # why: whatever an object holds, the others must be heard of
            self._skips.note(self._kind.kind, _named(manifest), error)
            return ()


def _named(manifest: ReadOnly) -> str:
    try:
        return f"{namespace_of(manifest)!r} {name_of(manifest)!r}"
    except AttributeError:
        return "without metadata"
