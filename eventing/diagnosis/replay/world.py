"""World replay: repeats a recording in another API server with today's steps, and compares the final states."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from eventing.diagnosis.replay.archive import open_capture
from eventing.diagnosis.replay.comparison import differences
from eventing.diagnosis.replay.external_changes import ExternalChanges
from eventing.diagnosis.replay.ports import AnswersInTime
from eventing.diagnosis.replay.recording import Change, Recording
from eventing.diagnosis.replay.simulated_queue import SimulatedQueue
from eventing.diagnosis.replay.world_ports import World, ports_of
from eventing.events.event import Event
from eventing.journal.journal_index import writes_of
from eventing.runner import Steps
from shared import names
from shared.api.manifest import Manifest, uid_of
from shared.kinds import EVENT, Ref
from shared.ports import Bundles, Catalogs, Policy

Perturbation: TypeAlias = Literal["", "drop", "duplicate", "reorder", "delay"]
_BURST = 5
_PAUSE_MS = 500
_MORE_RUNS = 10
_FEWEST_RUNS = 500


@dataclass(frozen=True, slots=True)
class WorldReport:
    """The differences between the replayed world and the recorded one."""

    runs: int
    differences: tuple[tuple[Ref, str], ...]
    """Object and diff, recorded against replayed."""
    failures: tuple[str, ...] = ()
    """Changes that could not be repeated, and the errors of jobs that never succeeded."""
    is_settled: bool = True
    """False: the steps did not come to rest and were stopped."""

    @property
    def exit_code(self) -> int:
        """0 when both worlds end in the same state."""
        return 0 if self.is_settled and not self.differences else 1


def replay_world(
    path: Path,
    world: World,
    *,
    perturb: Perturbation = "",
    seed: int = 0,
    steps: Steps | None = None,
    stored: Callable[[Manifest], Manifest] = lambda manifest: manifest,
) -> WorldReport:
    """Rebuild the recorded world in an empty one that serves our kinds, and let today's steps react.

    `perturb` changes the events of each burst: some are lost (and the audit runs), each comes twice, or they come
    out of order, or late. The final state must be the same. `stored` returns a recorded object with the defaults of
    the server of this world: the server of then may have had fewer.
    """
    replay = _Replay(Recording(open_capture(path)), world, steps or Steps())
    replay.run(perturb, random.Random(seed))  # noqa: S311  # why: a test order
    return replay.report(stored)


def _bursts(changes: Iterable[Change], size: int, end: int) -> Iterator[tuple[list[Change], int]]:
    """The changes in bursts of at most `size`, each with the time of the next one; a pause ends a burst.

    A person who acts after a pause has seen the result of the changes before it, so a perturbation must not last
    longer.
    """
    burst: list[Change] = []
    for change in changes:
        if burst and (len(burst) == size or change.at - burst[-1].at >= _PAUSE_MS):
            yield burst, change.at
            burst = []
        burst.append(change)
    yield burst, end


def _disturbed(events: Sequence[Event], perturb: Perturbation, rng: random.Random) -> Sequence[Event]:
    """The events of a burst after the perturbation; the audit repairs what is lost, so it comes in any case."""
    match perturb:
        case "drop":
            return [event for index, event in enumerate(events) if index % 3 or event.type == names.AUDIT_REQUESTED]
        case "duplicate":
            return [event for event in events for _ in range(2)]
        case "reorder":
            return rng.sample(events, len(events))
    return events


class _Replay:
    """One world replay."""

    def __init__(self, recording: Recording, world: World, steps: Steps) -> None:
        self._recording = recording
        self._world = world
        self._external = ExternalChanges(recording, world)
        self._until_ms = recording.began
        most = max(_FEWEST_RUNS, _MORE_RUNS * len(recording.index.runs))
        self._queue = SimulatedQueue(world, self._ports(), steps, self._external.answer, recording.began, most)

    def _ports(self) -> dict[type, Any]:
        """The ports: the world itself, and the recorded answers from outside the cluster."""
        ports = ports_of(self._world)
        for port in (Catalogs, Bundles, Policy):
            told = self._recording.answers(port)
            if told or port is not Policy:
                ports[port] = AnswersInTime(self._recording.index, told, lambda: self._until_ms).port(port)
        return ports

    def run(self, perturb: Perturbation, rng: random.Random) -> None:
        """Repeat all changes that we did not cause."""
        self._external.prepare()
        size = _BURST if perturb in ("drop", "reorder", "delay") else 1
        for burst, until_ms in _bursts(self._recording.changes(), size, self._recording.ended):
            self._until_ms = until_ms
            for change in burst:
                self._external.act(change)
            for event in _disturbed([change.event for change in burst], perturb, rng):
                self._queue.enqueue(replace(event, ref=self._external.ref_here(event.ref)))
                self._queue.settle(until_ms)
            if perturb == "drop":
                self._queue.audit(self._external.ref_here(change.event.ref) for change in burst)
            if size > 1:
                self._catch_up()
        if perturb == "drop":
            self._queue.audit(
                {self._external.ref_here(ref) for ref in (*self._recording.uids.values(), *self._recording.written)}
            )
        self._queue.settle(self._recording.ended)
        self._queue.retry()
        self._catch_up()

    def _catch_up(self) -> None:
        """Repeat the answers of others to objects that changed late."""
        self._queue.settle(self._queue.now_ms)
        while self._queue.is_settling and (events := list(self._external.answer(again=True))):
            for event in events:
                self._queue.enqueue(event)
            self._queue.settle(self._queue.now_ms)

    def report(self, stored: Callable[[Manifest], Manifest]) -> WorldReport:
        """Compare every object that was written in either world."""
        recording, runs = self._recording, self._queue.index.runs
        writes = [write for run in runs.values() for write in writes_of(run)]
        refs = {*recording.written, *(ref for write in writes if (ref := Ref.parse(write.ref)).kind != EVENT.kind)}
        now = {ref: manifest for ref in refs if (manifest := self._world.get(ref))}
        then = {ref: manifest for ref, manifest in recording.final().items() if ref in refs}
        uids = recording.uids | {write.uid: Ref.parse(write.ref) for write in writes if write.uid}
        uids |= {uid_of(manifest): ref for ref in recording.uids.values() if (manifest := self._world.get(ref))}
        failures = (*self._external.unrepeatable, *self._queue.failing.values())
        found = differences(then, now, uids)
        if found:
            found = differences({ref: stored(manifest) for ref, manifest in then.items()}, now, uids)
        return WorldReport(len(runs), found, failures, self._queue.is_settling)
