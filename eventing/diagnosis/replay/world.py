"""World replay: repeats a recording in another API server with today's steps, and compares the final states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from eventing.diagnosis.replay.archive import open_capture
from eventing.diagnosis.replay.comparison import differences
from eventing.diagnosis.replay.external_changes import ExternalChanges
from eventing.diagnosis.replay.perturbation import Perturbation
from eventing.diagnosis.replay.ports import AnswersInTime, DiscoveryOfThen, Timed
from eventing.diagnosis.replay.recording import Change, Recording
from eventing.diagnosis.replay.simulated_queue import Note, SimulatedQueue
from eventing.diagnosis.replay.world_ports import World, ports_of
from eventing.journal.journal_index import writes_of
from eventing.runner import Steps
from shared import names
from shared.api.manifest import Manifest, uid_of
from shared.kinds import EVENT, Ref
from shared.ports import Bundles, Catalogs, Discovery, Policy

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
    perturbed: Perturbation | None = None,
    steps: Steps | None = None,
    stored: Callable[[Manifest], Manifest] = lambda manifest: manifest,
) -> WorldReport:
    """Rebuild the recorded world in an empty one that serves our kinds, and let today's steps react.

    With `perturbed` some events are lost (and the audit runs), come twice, out of order, or late; the final state must
    be the same. `stored` returns a recorded object with the defaults of the server of this world: the server of then
    may have had fewer.
    """
    replay = _Replay(Recording(open_capture(path)), world, steps or Steps())
    replay.run(perturbed)
    return replay.report(stored)


def live_until(path: Path, until: str, world: World, note: Note) -> SimulatedQueue:
    """Rebuild a recorded world up to an event, or to the run of that id, and all that had come of it; what waits.

    `note` gets each event and the record of each run. NotInCapture when neither has that id.
    """
    recording = Recording(open_capture(path))
    replay = _Replay(recording, world, Steps(), note)
    replay.run_until(until, recording.moment(until))
    return replay.queue


def _bursts(changes: Sequence[Change]) -> Iterator[range]:
    """The places of the changes in bursts; a pause ends a burst.

    A person who acts after a pause has seen the result of the changes before it, so a perturbation must not last
    longer.
    """
    first = 0
    for place in range(1, len(changes) + 1):
        is_over = place == len(changes) or changes[place].at - changes[place - 1].at >= _PAUSE_MS
        if is_over or place - first == _BURST:
            yield range(first, place)
            first = place


class _Replay:
    """One world replay."""

    def __init__(self, recording: Recording, world: World, steps: Steps, note: Note = lambda _: None) -> None:
        self._recording = recording
        self._world = world
        self._external = ExternalChanges(recording, world)
        self._until_ms = recording.began
        most = max(_FEWEST_RUNS, _MORE_RUNS * len(recording.index.runs))
        answer = self._external.answer
        self.queue = SimulatedQueue(world, self._ports(), steps, answer, recording.began, most, note)

    def _ports(self) -> dict[type, Any]:
        """The ports: the world itself, and the recorded answers from outside the cluster."""
        ports = ports_of(self._world)
        for port in (Catalogs, Bundles, Policy):
            answers = self._recording.answers(port)
            if answers or port is not Policy:
                ports[port] = self._in_time(answers).port(port)
        ports[Discovery] = DiscoveryOfThen(self._world, self._in_time(self._recording.answers(Discovery)))
        return ports

    def _in_time(self, answers: Iterable[Timed]) -> AnswersInTime:
        return AnswersInTime(self._recording.index, answers, lambda: self._until_ms)

    def run(self, perturbed: Perturbation | None) -> None:
        """Repeat all changes that we did not cause."""
        self._external.prepare()
        changes = list(self._recording.changes())
        for burst in _bursts(changes):
            for place in burst:
                self._until_ms = changes[place + 1].at if place + 1 < len(changes) else self._recording.ended
                self._external.act(changes[place])
                for _ in range(perturbed.times(place) if perturbed else 1):
                    self._deliver(changes[place])
            if perturbed:
                self._make_up(changes, burst, perturbed)
        if perturbed and perturbed.kind == "drop":
            everything = (*self._recording.uids.values(), *self._recording.written)
            self.queue.audit(set(map(self._external.ref_here, everything)))
        self.queue.settle(self._recording.ended)
        self.queue.retry()
        self._catch_up()

    def run_until(self, until: str, at: int) -> None:
        """Repeat the changes up to that event, or up to that time in milliseconds."""
        self._external.prepare()
        changes = [change for change in self._recording.changes() if change.at <= at]
        for change, after in zip_longest(changes, changes[1:]):
            self._until_ms = after.at if after else at
            self._external.act(change)
            self._deliver(change)
            if change.event.id == until:
                return
        self.queue.settle(at)

    def _deliver(self, change: Change) -> None:
        self.queue.enqueue(replace(change.event, ref=self._external.ref_here(change.event.ref)))
        self.queue.settle(self._until_ms)

    def _make_up(self, changes: Sequence[Change], burst: range, perturbed: Perturbation) -> None:
        """Deliver at the end of a burst what came late, and find by the audit what was lost."""
        for place in perturbed.late(burst):
            self._deliver(changes[place])
        lost = [changes[place] for place in perturbed.lost(burst)]
        for change in lost:
            if change.event.type == names.AUDIT_REQUESTED:  # why: it is what repairs, so it comes late
                self._deliver(change)
        self.queue.audit(self._external.ref_here(change.event.ref) for change in lost)
        self._catch_up()

    def _catch_up(self) -> None:
        """Repeat the answers of others to objects that changed late."""
        self.queue.settle(self.queue.now_ms)
        while self.queue.has_runs_left and (events := list(self._external.answer(again=True))):
            for event in events:
                self.queue.enqueue(event)
            self.queue.settle(self.queue.now_ms)

    def report(self, stored: Callable[[Manifest], Manifest]) -> WorldReport:
        """Compare every object that was written in either world."""
        recording, runs = self._recording, self.queue.index.runs
        writes = [write for run in runs.values() for write in writes_of(run)]
        refs = {*recording.written, *(ref for write in writes if (ref := Ref.parse(write.ref)).kind != EVENT.kind)}
        now = {ref: manifest for ref in refs if (manifest := self._world.get(ref))}
        then = {ref: manifest for ref, manifest in recording.final().items() if ref in refs}
        uids = recording.uids | {write.uid: Ref.parse(write.ref) for write in writes if write.uid}
        uids |= {uid_of(manifest): ref for ref in recording.uids.values() if (manifest := self._world.get(ref))}
        failures = (*self._external.unrepeatable, *self.queue.failing.values())
        found = differences(then, now, uids)
        if found:
            found = differences({ref: stored(manifest) for ref, manifest in then.items()}, now, uids)
        return WorldReport(len(runs), found, failures, self.queue.has_runs_left)
