"""Looks for a perturbation after which a world ends otherwise, and for the fewest events that it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from eventing.diagnosis.replay.archive import open_capture
from eventing.diagnosis.replay.perturbation import WORDS, Kind, Perturbation, drawn
from eventing.diagnosis.replay.recording import Change, Recording
from eventing.diagnosis.replay.world import WorldReport
from eventing.routes import jobs_for

World: TypeAlias = Callable[[Perturbation | None], WorldReport]
"""Replays a recording, perturbed or not."""
TRIES = 100
"""Worlds at most in which fewer events are tried."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to."""

    worlds: int
    """How many were replayed, without those that only looked for fewer events."""
    report: WorldReport
    """Of the last world, or of the one that ended otherwise with the fewest perturbed events."""
    perturbed: Perturbation | None = None
    """The fewest events; None: no world ended otherwise, or the one that nothing perturbs did."""
    is_fewest: bool = True
    """Whether each smaller part of them was tried; else the tries, or who waited, came to an end before."""
    tried: int = 0
    """Limit of worlds that are replayed to find fewer events."""


def search(
    replayed: World,
    count: int,
    kind: Kind,
    seeds: Sequence[int],
    *,
    report_progress: Callable[[str], object] = lambda _: None,
) -> Found:
    """Replay a recording of `count` changes undisturbed, then perturbed once for each seed, until a world differs.

    `report_progress` gets a sentence before each world. A search for fewer events that is interrupted returns the
    fewest found so far.
    """
    most = len(seeds) + 1
    report_progress(f"world 1 of at most {most}: undisturbed, {count} changes")
    report, worlds = replayed(None), 1
    for seed in seeds if report.exit_code == 0 else ():
        perturbed, worlds = drawn(kind, count, seed), worlds + 1
        report_progress(
            f"world {worlds} of at most {most}: seed {seed}, {len(perturbed.places)} of {count} events ({kind})"
        )
        report = replayed(perturbed)
        if report.exit_code:
            return _shrunk(replayed, perturbed, report, worlds, report_progress=report_progress)
    return Found(worlds, report)


def _shrunk(
    replayed: World,
    perturbed: Perturbation,
    report: WorldReport,
    worlds: int,
    *,
    report_progress: Callable[[str], object],
) -> Found:
    reports = {perturbed.places: report}
    shrinking = Shrinking(perturbed.places)

    def fails(some: frozenset[int]) -> bool:
        before = f"it ends otherwise after {len(shrinking.places)} events"
        report_progress(f"{before}; try {shrinking.tried} of at most {TRIES}: {len(some)} of them")
        reports[some] = replayed(Perturbation(perturbed.kind, some))
        return reports[some].exit_code != 0

    with suppress(KeyboardInterrupt):
        shrinking.run(fails)
    places = shrinking.places
    fewest = Perturbation(perturbed.kind, places)
    return Found(worlds, reports[places], fewest, is_fewest=shrinking.is_fewest, tried=shrinking.tried)


@dataclass(slots=True)
class Shrinking:
    """Delta debugging (Zeller, Hildebrandt: Simplifying and Isolating Failure-Inducing Input, 2002)."""

    places: frozenset[int]
    """The fewest that are known to fail."""
    tried: int = 0
    is_fewest: bool = False
    """Whether none of them can be left out."""
    _passing: set[frozenset[int]] = field(default_factory=set)

    def run(self, fails: Callable[[frozenset[int]], bool], most: int = TRIES) -> None:
        """Look for fewer by `most` calls of `fails` at most; none is made twice."""
        parts = 2
        while len(self.places) > 1:
            if (smaller := next(self._failing(parts, fails, most), None)) is not None:
                is_rest = len(smaller) * 2 > len(self.places)
                self.places, parts = smaller, max(2, parts - 1) if is_rest else 2
            elif self.tried == most or parts >= len(self.places):
                break
            else:
                parts *= 2
            parts = min(parts, len(self.places))
        self.is_fewest = all(some in self._passing for some in _parts(self.places, len(self.places)))

    def _failing(self, parts: int, fails: Callable[[frozenset[int]], bool], most: int) -> Iterator[frozenset[int]]:
        for some in _parts(self.places, parts):
            if some not in self._passing and self.tried < most:
                self.tried += 1
                if fails(some):
                    yield some
                self._passing.add(some)


def _parts(places: frozenset[int], parts: int) -> Iterator[frozenset[int]]:
    """Each of so many parts alone, then all but each of them; none of a single place."""
    if len(places) < 2:
        return
    ordered = sorted(places)
    size = -(-len(ordered) // parts)
    pieces = [frozenset(ordered[start : start + size]) for start in range(0, len(ordered), size)]
    yield from pieces
    if len(pieces) > 2:
        yield from (places - piece for piece in pieces)


def changes_of(path: Path) -> list[Change]:
    """The changes of others in a capture, in the order of their places."""
    return list(Recording(open_capture(path)).changes())


def story(changes: list[Change], perturbed: Perturbation) -> Iterator[str]:
    """What happens to which events, a line each, with the steps that they enqueue."""
    began = changes[0].at if changes else 0
    for place in sorted(perturbed.places):
        change = changes[place]
        verb = change.event.type.rpartition(".")[2]
        steps = ", ".join(sorted({job.step for job in jobs_for(change.event)})) or "no step"
        yield (
            f"{WORDS[perturbed.kind]}: {verb} {change.event.ref}, change {place + 1} of {len(changes)} after "
            f"{(change.at - began) / 1000:.1f} s, which enqueues {steps}"
        )
