"""The reported changes as a run sees them: from its claim, or asked for at once; its own writes count when it ends.

A step need not know more than what was reported when it was claimed: what is reported later enqueues it again. So its
claim brings what is known of all that the runs of the step have read, and for anything else a decision asks once. Nor
need others know of a write before the run ends: only then may start what it has enqueued. Whoever reads without a run
asks, and counts, each time.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple

from shared.adapters.kube.answers import OWN, ChangeCounts, Changes, Place
from shared.kinds import Kind
from shared.resource_versions import is_newer

SECONDS = 2.0
"""How long a decision does with what it knows; a run of the long lane may take minutes."""
MAX_PLACES = 32
"""That a claim brings of a step; each costs Redis a few microseconds."""
MAX_OTHERS = 2
"""Namespaces among these that are not that of the run: those of copies differ from run to run."""
AGAIN_SECONDS = 60.0
"""After that Redis is told once more what a step reads, if it does not know: it was emptied."""


class Reported(NamedTuple):
    """What was reported of a kind in a namespace until a moment."""

    counts: ChangeCounts
    until: float


@dataclass(slots=True)
class PresentRun:
    """The run for which a thread reads and writes."""

    step: str
    namespace: str
    claimed: Mapping[tuple[str, str, str], ChangeCounts] = field(default_factory=dict)
    """What its claim brought, by apiVersion, kind and namespace."""
    reported: dict[Place, Reported] = field(default_factory=dict)
    written: set[Place] = field(default_factory=set)
    """What it has changed, for its end to count."""
    began: float | None = None
    asking: threading.Lock = field(default_factory=threading.Lock)
    """Of threads that ask for it at once, the first one asks for all."""

    def decides_again(self) -> None:
        """What was reported meanwhile is to be known."""
        self.claimed = {}
        self.reported.clear()


PRESENT_READS: ContextVar[PresentRun | None] = ContextVar("PRESENT_READS", default=None)


class ReportedChanges:
    """What was reported of kinds; threads share it."""

    def __init__(
        self,
        changes: Changes,
        kinds: Collection[Kind],
        at_least: Callable[[Kind, str], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`kinds` are those that are asked for at once, `at_least` receives the newest version reported of each."""
        self._changes = changes
        self._kinds = tuple(kinds)
        self._at_least = at_least
        self._now = now
        self._expected: dict[str, dict[Place, float]] = {}
        """By step: what its runs read, and when that was last noted."""
        self._restored: dict[Kind, str] = {}
        """What was reported when the API server was last believed to be restored, or when the kind was first read."""
        self._restored_at: dict[Kind, float] = {}

    def of(self, kind: Kind, namespace: str) -> Reported:
        """What was reported; a restore of before the first look has been seen by all that this client reads."""
        if kind not in self._restored:
            self._restored.setdefault(kind, self._of((kind, "")).counts.restored)
        found = self._of((kind, namespace))
        if namespace and not kind.is_namespaced and found.counts == ChangeCounts():
            return self._of((kind, ""))  # an older watcher counts no groups
        return found

    def is_restored(self, kind: Kind, version: str) -> bool:
        """Whether the API server went back to an older state since the last time, and a list may have this version."""
        (counts,) = self._changes.counts([(kind, "")])
        before = self._restored.setdefault(kind, counts.restored)
        if counts.restored == before or is_newer(counts.newest, version):
            return False
        self._restored[kind], self._restored_at[kind] = counts.restored, self._now()
        return True

    def wrote(self, kind: Kind, namespace: str) -> None:
        """Count a write: now, or when the present run ends."""
        run = PRESENT_READS.get()
        if run is None:
            self._changes.wrote(kind, namespace)
        else:
            run.written.add((kind, namespace))

    def wrote_also(self, kind: Kind, namespace: str) -> None:
        """Count a write, which was counted, for the present run, too."""
        if run := PRESENT_READS.get():
            run.written.add((kind, namespace))

    def _of(self, place: Place) -> Reported:
        run = PRESENT_READS.get()
        if run is None:
            return self._asked([place])[place]
        with run.asking:
            if (place[0].api_version, place[0].kind, place[1]) not in run.claimed:
                self._expect(run, place)
            return self._known(run, place) or self._asked_by(run, place)

    def _known(self, run: PresentRun, place: Place) -> Reported | None:
        """What the run knows, unless that is too old."""
        now, (kind, namespace) = self._now(), place
        run.began = now if run.began is None else run.began
        found = run.reported.get(place)
        claimed = run.claimed.get((kind.api_version, kind.kind, namespace))
        if found is None and claimed is not None and now - run.began <= SECONDS:
            self._note(kind, claimed, run.began - SECONDS)
            found = run.reported[place] = Reported(claimed, self._now())
        return found if found is not None and now - found.until <= SECONDS else None

    def _asked_by(self, run: PresentRun, place: Place) -> Reported:
        """Ask for it, and for all that a run may ask for, too."""
        places = ((kind, namespace) for kind in self._kinds for namespace in (run.namespace, ""))
        run.reported.update(self._asked([place, *(each for each in places if self._known(run, each) is None)]))
        return run.reported[place]

    def _asked(self, places: list[Place]) -> dict[Place, Reported]:
        """What was reported of these; no list may be older from now on."""
        unique, since = list(dict.fromkeys(places)), self._now()
        counts = self._changes.counts(unique)
        for (kind, _), each in zip(unique, counts, strict=True):
            self._note(kind, each, since)
        until = self._now()
        return {place: Reported(each, until) for place, each in zip(unique, counts, strict=True)}

    def _note(self, kind: Kind, counts: ChangeCounts, since: float) -> None:
        """Let no list be older, unless the API server went back to an older state after that was reported."""
        if self._restored_at.get(kind, -math.inf) <= since:
            self._at_least(kind, counts.newest)

    def _expect(self, run: PresentRun, place: Place) -> None:
        """Let the next claim of the step bring this."""
        kind, namespace = place
        if namespace and not kind.is_namespaced:
            return  # the groups of definitions differ from run to run
        expected = self._expected.setdefault(run.step, {})
        template = (kind, OWN if namespace and namespace == run.namespace else namespace)
        others = {other for _, other in expected} - {"", OWN}
        if template in expected:
            if self._now() - expected[template] < AGAIN_SECONDS:
                return
        elif len(expected) >= MAX_PLACES or (len(others) >= MAX_OTHERS and template[1] not in ("", OWN, *others)):
            return
        expected[template] = self._now()
        self._changes.expect(run.step, *template)
