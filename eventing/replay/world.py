"""World replay: the recorded world again, in another API server, with the steps of today; compares where it ends."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from eventing.events import Event
from eventing.journal.book import writes_of
from eventing.replay.archive import open_capture
from eventing.replay.likeness import differences
from eventing.replay.others import Others
from eventing.replay.past import Change, Past
from eventing.replay.ports import AnswersInTime
from eventing.replay.turns import Turns
from eventing.replay.world_ports import World, ports_of
from eventing.runner import Steps
from shared.api.manifest import uid_of
from shared.kinds import EVENT, Ref
from shared.ports import Bundles, Catalogs, Policy

Perturbation: TypeAlias = Literal["", "drop", "duplicate", "reorder", "delay"]
_BURST = 5
_PAUSE_MS = 500
_MORE_RUNS = 10
_FEWEST_RUNS = 500


@dataclass(frozen=True, slots=True)
class WorldReport:
    """Where the replayed world differs from the recorded one."""

    runs: int
    differences: tuple[tuple[Ref, str], ...]
    """Object and diff, recorded against replayed."""
    failures: tuple[str, ...] = ()
    """What could not be repeated, and how the jobs failed that never came through."""
    is_settled: bool = True
    """False: the steps kept ringing each other and were stopped."""

    @property
    def exit_code(self) -> int:
        """0 when both worlds end alike."""
        return 0 if self.is_settled and not self.differences else 1


def replay_world(
    path: Path, world: World, *, perturb: Perturbation = "", seed: int = 0, steps: Steps | None = None
) -> WorldReport:
    """Rebuild the recorded world in an empty one that serves our kinds, and let today's steps do their work.

    `perturb` disturbs the events of each burst: some are lost (and the audit rings), each comes twice, or they come
    out of order, or late. The final state must be the same.
    """
    replay = _Replay(Past(open_capture(path)), world, steps or Steps())
    replay.run(perturb, random.Random(seed))  # noqa: S311  # why: a test order
    return replay.report()


def _bursts(changes: Iterable[Change], size: int, end: int) -> Iterator[tuple[list[Change], int]]:
    """Changes at most so many at a time, and when the next come; a burst ends where nothing happened for a while.

    A person who acts after a pause acts on what came of it: a disturbance that lasts longer would change the story.
    """
    burst: list[Change] = []
    for change in changes:
        if burst and (len(burst) == size or change.at - burst[-1].at >= _PAUSE_MS):
            yield burst, change.at
            burst = []
        burst.append(change)
    yield burst, end


def _disturbed(events: Sequence[Event], perturb: Perturbation, dice: random.Random) -> Sequence[Event]:
    """The events of a burst as the perturbation has them."""
    match perturb:
        case "drop":
            return [event for index, event in enumerate(events) if index % 3]
        case "duplicate":
            return [event for event in events for _ in range(2)]
        case "reorder":
            return dice.sample(events, len(events))
    return events


class _Replay:
    """One world replay."""

    def __init__(self, past: Past, world: World, steps: Steps) -> None:
        self._past = past
        self._world = world
        self._others = Others(past, world)
        self._until_ms = past.began
        most = max(_FEWEST_RUNS, _MORE_RUNS * len(past.book.runs))
        self._turns = Turns(world, self._ports(), steps, self._others.answer, past.began, most)

    def _ports(self) -> dict[type, Any]:
        """The world itself, and what the world outside the cluster said at the time."""
        ports = ports_of(self._world)
        for port in (Catalogs, Bundles, Policy):
            told = self._past.answers(port)
            if told or port is not Policy:
                ports[port] = AnswersInTime(self._past.book, told, lambda: self._until_ms).port(port)
        return ports

    def run(self, perturb: Perturbation, dice: random.Random) -> None:
        """Everything that happened, as far as we did not cause it."""
        self._others.prepare()
        size = _BURST if perturb in ("drop", "reorder", "delay") else 1
        for burst, until_ms in _bursts(self._past.changes(), size, self._past.ended):
            self._until_ms = until_ms
            for change in burst:
                self._others.act(change)
            for event in _disturbed([change.event for change in burst], perturb, dice):
                self._turns.ring(replace(event, ref=self._others.ref_here(event.ref)))
                self._turns.settle(until_ms)
            if perturb == "drop":
                self._turns.audit(self._others.ref_here(change.event.ref) for change in burst)
            if size > 1:
                self._catch_up()
        if perturb == "drop":
            self._turns.audit({self._others.ref_here(ref) for ref in (*self._past.uids.values(), *self._past.written)})
        self._turns.settle(self._past.ended)
        self._turns.retry()
        self._catch_up()

    def _catch_up(self) -> None:
        """Let others answer again what was changed late."""
        self._turns.settle(self._turns.now_ms)
        while self._turns.is_settling and (events := list(self._others.answer(again=True))):
            for event in events:
                self._turns.ring(event)
            self._turns.settle(self._turns.now_ms)

    def report(self) -> WorldReport:
        """Compare every object that was written, in either world."""
        past, runs = self._past, self._turns.book.runs
        writes = [write for run in runs.values() for write in writes_of(run)]
        refs = {*past.written, *(ref for write in writes if (ref := Ref.parse(write.ref)).kind != EVENT.kind)}
        now = {ref: manifest for ref in refs if (manifest := self._world.get(ref))}
        then = {ref: manifest for ref, manifest in past.final().items() if ref in refs}
        uids = past.uids | {write.uid: Ref.parse(write.ref) for write in writes if write.uid}
        uids |= {uid_of(manifest): ref for ref in past.uids.values() if (manifest := self._world.get(ref))}
        failures = (*self._others.unrepeatable, *self._turns.failing.values())
        return WorldReport(len(runs), differences(then, now, uids), failures, self._turns.is_settling)
