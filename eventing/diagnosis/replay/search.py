"""Looks for a perturbation after which a world ends otherwise, and for the fewest events that it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
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


def search(replayed: World, count: int, kind: Kind, seeds: Iterable[int]) -> Found:
    """Replay a recording of `count` changes undisturbed, then perturbed once for each seed, until a world differs."""
    report, worlds = replayed(None), 1
    for seed in seeds if report.exit_code == 0 else ():
        perturbed, worlds = drawn(kind, count, seed), worlds + 1
        report = replayed(perturbed)
        if report.exit_code:
            fewest = Perturbation(kind, fewest_of(perturbed.places, lambda some: _differs(replayed, kind, some)))
            return Found(worlds, replayed(fewest), fewest)
    return Found(worlds, report)


def _differs(replayed: World, kind: Kind, places: frozenset[int]) -> bool:
    return replayed(Perturbation(kind, places)).exit_code != 0


def fewest_of(places: frozenset[int], fails: Callable[[frozenset[int]], bool], tries: int = TRIES) -> frozenset[int]:
    """A subset that still fails and of which no part can be left out, as far as `tries` calls of `fails` show.

    Delta debugging (Zeller, Hildebrandt: Simplifying and Isolating Failure-Inducing Input, 2002).
    """
    parts, budget = 2, iter(range(tries))
    while len(places) > 1:
        candidates = _parts(places, parts)
        smaller = next((each for each in candidates if next(budget, None) is not None and fails(each)), None)
        if smaller is not None:
            places, parts = smaller, min(len(smaller), max(2, parts - 1))
        elif parts >= len(places):
            break
        else:
            parts = min(len(places), 2 * parts)
    return places


def _parts(places: frozenset[int], parts: int) -> Iterator[frozenset[int]]:
    """Each of so many parts alone, then all but each of them."""
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
