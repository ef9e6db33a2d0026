"""World replay: the recorded world again, in another API server, with the steps of today; compares where it ends."""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from eventing.effects import Api
from eventing.events import Event, change_id
from eventing.journal import Book
from eventing.journal.records import Write, unpack_run
from eventing.replay.archive import open_capture
from eventing.replay.likeness import difference, patch_between, renamed, stripped
from eventing.replay.past import Change, Past
from eventing.replay.ports import Answers
from eventing.routes import Job, jobs_for
from eventing.runner import Runner, Steps
from eventing.watch.hints import hints
from eventing.workqueue import Claim
from shared import names
from shared.adapters.kube import ApiError
from shared.api.manifest import name_of, uid_of, version_of
from shared.domain.groups.copies import Copy
from shared.kinds import CLUSTER_SERVICE_VERSION, EVENT, NAMESPACE, Kind, Ref
from shared.ports import Bundles, Catalogs, Cluster, Copies, Discovery, Inventory, Journal, Policy

Perturbation: TypeAlias = Literal["", "drop", "duplicate", "reorder", "delay"]
_BLOCK = 5
_MORE_RUNS = 10
_FEWEST_RUNS = 500


class World(Api, Cluster, Protocol):
    """An API server that is ours alone, e.g. a fresh sandbox (`KubeClient` on it)."""

    def version(self) -> str:
        """`gitVersion`."""
        ...


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

    `perturb` disturbs the events: every third is lost (the audit rings at the end), each comes twice, or they come
    out of order, or late. The final state must be the same.
    """
    past = Past(open_capture(path))
    replay = _Replay(past, world, steps or Steps())
    replay.prepare()
    for act, change in _script(list(past.changes()), perturb, random.Random(seed)):  # noqa: S311  # why: a test order
        if act == "apply":
            replay.apply(change)
        else:
            replay.ring(change.event)
            replay.settle(change.at)
    if perturb == "drop":
        replay.ring_all()
    replay.settle(max((run.at for run in past.book.runs.values()), default=0) + 1000)
    return replay.report()


def _script(changes: Sequence[Change], perturb: Perturbation, dice: random.Random) -> Iterator[tuple[str, Change]]:
    """What happens in which order: the world changes as recorded, the events come as the perturbation has it."""
    for start in range(0, len(changes), _BLOCK):
        block = changes[start : start + _BLOCK]
        if perturb in ("reorder", "delay"):
            yield from (("apply", change) for change in block)
            rings = dice.sample(block, len(block)) if perturb == "reorder" else block
            yield from (("ring", change) for change in rings)
            continue
        for index, change in enumerate(block, start):
            yield "apply", change
            times = 2 if perturb == "duplicate" else int(perturb != "drop" or index % 3 != 0)
            yield from [("ring", change)] * times


@dataclass
class _Replay:
    """One world replay: a queue without workers, a clock that jumps, and the steps of today."""

    past: Past
    world: World
    steps: Steps
    now_ms: int = 0
    book: Book = field(default_factory=Book)
    unrepeatable: list[str] = field(default_factory=list)
    _ready: dict[Job, list[str]] = field(default_factory=dict)
    _delayed: list[tuple[int, int, Job]] = field(default_factory=list)
    _order: Iterator[int] = field(default_factory=count)
    _attempts: dict[Job, int] = field(default_factory=dict)
    _failing: dict[Job, str] = field(default_factory=dict)
    _hints: dict[Ref, dict[str, str]] = field(default_factory=dict)
    _uids: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.now_ms = min((run.at for run in self.past.book.runs.values()), default=0)
        self._most = max(_FEWEST_RUNS, _MORE_RUNS * len(self.past.book.runs))
        answers = Answers(self.past.book, self.past.answers("Catalogs", "Bundles", "Policy"))
        ports: dict[type, Any] = {
            Cluster: self.world,
            Discovery: self.world,
            Copies: ListedCopies(self.world),
            Inventory: ListedInventory(self.world),
            Journal: _NothingUnseen(),
            Catalogs: answers.port(Catalogs),
            Bundles: answers.port(Bundles),
        }
        if self.past.answers("Policy"):
            ports[Policy] = answers.port(Policy)
        self._runner = Runner(ports, self.world, self, steps=self.steps)

    def now(self) -> datetime:
        """The clock of this world (`Clock`)."""
        return datetime.fromtimestamp(self.now_ms // 1000, UTC)

    def prepare(self) -> None:
        """Make the namespaces."""
        for name in self.past.namespaces():
            if self.world.get(NAMESPACE.ref(name)) is None:
                self.world.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def apply(self, change: Change) -> None:
        """Let happen in this world what happened in the other."""
        try:
            self._apply(change)
        except ApiError as error:
            self.unrepeatable.append(f"{change.event.type} of {change.event.ref} could not be repeated: {error}")

    def _apply(self, change: Change) -> None:
        ref = change.event.ref
        present = self.world.get(ref)
        if change.event.type.endswith(".delete"):
            if present is not None:
                self.world.delete(ref)
            return
        if change.after is None:
            return
        uids = self._new_uids()
        after = renamed(change.after, uids)
        before = renamed(change.before, uids) if change.before else present
        if present is None:
            self.world.create(stripped(after))
            before = {}
        elif patch := patch_between(stripped(before or {}), stripped(after)):
            self.world.merge(ref, patch)
        if status := patch_between((before or {}).get("status") or {}, after.get("status") or {}):
            self.world.merge(ref, {"status": status}, subresource="status")

    def ring(self, event: Event) -> None:
        """Line up the jobs that an event rings."""
        for job in jobs_for(event):
            self._ready.setdefault(job, []).append(event.id)

    def ring_all(self) -> None:
        """Ring for everything that is there, as the audit does."""
        refs = {*self.past.uids.values(), *self.past.written}
        for ref in sorted(refs):
            if manifest := self.world.get(ref):
                self.ring(Event(f"audit-{ref}", f"{names.RESOURCE_EVENT}update", "audit", ref, hints(manifest)))

    def settle(self, until_ms: int) -> None:
        """Run what is ready, and what falls due until then."""
        while self.is_settling:
            while self._ready and self.is_settling:
                job = next(iter(self._ready))
                self._run(job, tuple(self._ready.pop(job)))
            if not self._delayed or self._delayed[0][0] > until_ms:
                break
            due, _, job = heapq.heappop(self._delayed)
            self.now_ms = max(self.now_ms, due)
            self._ready.setdefault(job, []).append("delay")
        self.now_ms = max(self.now_ms, until_ms)

    @property
    def is_settling(self) -> bool:
        """There were not too many runs yet."""
        return len(self.book.runs) < self._most

    def report(self) -> WorldReport:
        """Compare every object that was written, in either world."""
        wrote = {Ref.parse(write.ref) for run in self.book.runs.values() for d in run.decisions for write in d.writes}
        refs = sorted({*self.past.written, *(ref for ref in wrote if ref.kind != EVENT.kind)})
        found = {ref: self.world.get(ref) for ref in refs}
        uids = {**self.past.uids, **{new: self.past.uids[old] for old, new in self._new_uids().items()}}
        uids |= {uid_of(manifest): ref for ref, manifest in found.items() if manifest}
        diffs = ((ref, difference(self.past.final(ref), found[ref], uids)) for ref in refs)
        differing = tuple((ref, diff) for ref, diff in diffs if diff)
        return WorldReport(
            len(self.book.runs), differing, (*self.unrepeatable, *self._failing.values()), self.is_settling
        )

    def _run(self, job: Job, causes: tuple[str, ...]) -> None:
        attempt = self._attempts.get(job, 0) + 1
        result = self._runner.run(Claim(job.step, job.ref, job.group, job.lane, 1, attempt, causes), lambda *_: True)
        record = unpack_run(result.record)
        self.book.add(record)
        for decision in record.run.decisions:
            for write in decision.writes:
                self._ring_for(write)
        for rung in result.jobs:
            self._ready.setdefault(rung, []).append(result.run_id)
        self._attempts[job] = attempt if result.failure else 0
        self._failing.pop(job, None)
        if result.failure:
            self._failing[job] = f"{job.step} on {job.ref}: {result.message}"
        delay = result.again_in if result.again_in is not None or not result.failure else timedelta(seconds=attempt)
        if delay is not None:
            due = self.now_ms + int(delay / timedelta(milliseconds=1))
            heapq.heappush(self._delayed, (due, next(self._order), job))

    def _ring_for(self, write: Write) -> None:
        """The event of our own write."""
        if write.did != "sent" or write.op == "Record":
            return
        ref = Ref.parse(write.ref)
        manifest = self.world.get(ref)
        if manifest is not None:
            self._hints[ref] = hints(manifest)
        verb = "delete" if manifest is None else "add" if write.op == "Create" else "update"
        event_id = change_id(write.uid, write.version, verb)
        self.ring(Event(event_id, names.RESOURCE_EVENT + verb, "world", ref, self._hints.get(ref, {})))

    def _new_uids(self) -> dict[str, str]:
        """Uids of the recorded world to those of the same objects in this one, as far as they are known."""
        for uid, ref in self.past.uids.items():
            if uid not in self._uids and (manifest := self.world.get(ref)):
                self._uids[uid] = uid_of(manifest)
        return self._uids


@dataclass(frozen=True, slots=True)
class ListedCopies:
    """The port `Copies` of a small world, whose objects can all be listed."""

    cluster: Cluster

    def made_from(self, namespace: str, name: str = "") -> tuple[Copy, ...]:
        """The copies of the originals in a namespace (of one of them)."""
        found = self.cluster.list(CLUSTER_SERVICE_VERSION, labels={names.COPIED_FROM: namespace})
        return tuple(Copy.of(manifest) for manifest in found if name in ("", name_of(manifest)))


@dataclass(frozen=True, slots=True)
class ListedInventory:
    """The port `Inventory` of a small world."""

    cluster: Cluster

    def versions(self, kind: Kind, *, labels: Mapping[str, str] | None = None) -> tuple[tuple[Ref, str], ...]:
        """Every object of a kind with its resourceVersion."""
        return tuple((Ref.of(manifest), version_of(manifest)) for manifest in self.cluster.list(kind, labels=labels))


class _NothingUnseen:
    """The port `Journal` of a world in which every event was seen."""

    def unseen(self, _: Sequence[tuple[Ref, str]]) -> tuple[Ref, ...]:
        """None."""
        return ()
