"""Extracts from a capture the versions of each object, and the changes that other clients made."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from heapq import merge

import msgspec

from eventing.diagnosis.replay.archive import Capture, NotInCapture
from eventing.diagnosis.replay.comparison import plan_names
from eventing.diagnosis.replay.ports import Timed
from eventing.events.event import Event, change_of
from eventing.journal import JournalIndex, ReceivedEvent
from eventing.journal.journal_index import writes_of
from eventing.journal.records import Write
from shared import names
from shared.api.manifest import Manifest, resource_version_of, uid_of
from shared.kinds import EVENT, Ref
from shared.ports import Catalogs


@dataclass(frozen=True, slots=True)
class Change:
    """A change that our steps did not cause."""

    event: Event
    at: int
    """Milliseconds since the epoch."""
    before: Manifest | None = None
    """The object before the change; None: not recorded, or we wrote in between."""
    after: Manifest | None = None
    """The object after the change; None: deleted, or not recorded."""
    is_answer: bool = False
    """The change is to an object that we made, and so can be repeated only after our steps made it again."""


class Recording:
    """The changes of other clients in a capture."""

    def __init__(self, capture: Capture) -> None:
        self.index: JournalIndex = capture.index
        self._objects = {Ref.of(manifest): manifest for manifest in capture.objects}
        self._versions: dict[str, dict[int, Manifest]] = {}
        for manifest in (*capture.objects, *_read(self.index)):  # of one version, what a step has read counts
            if uid_of(manifest) and resource_version_of(manifest).isdecimal():
                self._versions.setdefault(uid_of(manifest), {})[int(resource_version_of(manifest))] = manifest
        writes = [write for run in self.index.runs.values() for write in writes_of(run) if write.did == "sent"]
        self.written = tuple(ref for ref in map(Ref.parse, sorted({w.ref for w in writes})) if ref.kind != EVENT.kind)
        """The objects that we wrote, without Kubernetes Events."""
        self.uids = {uid: Ref.of(next(iter(versions.values()))) for uid, versions in self._versions.items()}
        """The ref that belongs to each uid."""
        self.uids |= {write.uid: Ref.parse(write.ref) for write in writes if write.uid}
        times = [run.at for run in self.index.runs.values()]
        self.began, self.ended = min(times, default=0), max(times, default=0) + 1000
        self._ours: dict[str, list[int]] = {}
        for write in writes:
            if write.version.isdecimal() and write.op != "SetStatus":
                self._ours.setdefault(write.uid, []).append(int(write.version))
        self._created = {write.uid: made for write in writes if (made := self._creation(write))}
        added = (change_of(received.id) for received in self.index.events.values() if received.type.endswith(".add"))
        self._born = {change[0]: int(change[1]) for change in added if change and change[1].isdecimal()}
        self._made = {write.uid for write in writes if write.op == "Create" or self._is_first(write)}

    def _is_first(self, write: Write) -> bool:
        """Whether the write applied an object without a known older version."""
        known = self._versions.get(write.uid)
        return write.op == "Apply" and write.version.isdecimal() and (not known or int(write.version) <= min(known))

    def _creation(self, write: Write) -> Manifest | None:
        """The object as we created it, if that was recorded."""
        body = msgspec.json.decode(self.index.bodies.get(write.body, b"null")) if write.op == "Create" else None
        return body["manifest"] if body else None

    def plan_names(self) -> dict[str, str]:
        """The names of all InstallPlans, each with a name that is the same in another world."""
        return plan_names(versions[max(versions)] for versions in self._versions.values())

    def namespaces(self) -> list[str]:
        """Every namespace that contained an object."""
        refs = (
            *self.uids.values(),
            *self.written,
            *(Ref.parse(received.ref) for received in self.index.events.values()),
        )
        return sorted({ref.namespace for ref in refs if ref.namespace})

    def changes(self) -> Iterator[Change]:
        """The objects that existed at the start of the journal, then the changes from outside, in order of time."""
        return merge(self._of_objects(), self._of_images(), key=lambda change: change.at)

    def _of_images(self) -> Iterator[Change]:
        """A resync request where a catalog image answered a run differently from before: no API event reports it."""
        last: dict[bytes, bytes] = {}
        for run in sorted(self.index.runs.values(), key=lambda run: run.at):
            for answer in (answer for decision in run.decisions for answer in decision.answers):
                arguments = msgspec.json.encode((answer.method, answer.args, answer.kwargs))
                encoded = msgspec.json.encode(answer)
                if answer.port == Catalogs.__name__ and last.setdefault(arguments, encoded) != encoded:
                    last[arguments] = encoded
                    yield Change(
                        Event(f"{run.id}.resync", names.RESYNC_REQUESTED, "capture", Ref.parse(run.ref)), run.at
                    )

    def _of_objects(self) -> Iterator[Change]:
        for uid, versions in self._versions.items():
            first = min(versions)
            if uid not in self._made and first < self._born.get(uid, first + 1):
                ref = Ref.of(versions[first])
                event = Event(f"{uid}.{first}.add", names.ADDED, "capture", ref)
                yield Change(event, self.began, after=versions[first])
        unseen = deque(self._unseen())
        for received in sorted(self.index.events.values(), key=lambda received: received.at):
            change = change_of(received.id)
            while unseen and change and change[1].isdecimal() and unseen[0][0] < int(change[1]):
                yield replace(unseen.popleft()[1], at=received.at)
            if self.index.writer_of(received.id) is None:
                yield self._change(received)
        yield from (replace(change, at=self.ended) for _, change in unseen)

    def _unseen(self) -> list[tuple[int, Change]]:
        """Changes by others to objects that we made and no event tells of, as builds before did not watch their kind.

        They are known because a step read them.
        """
        reported = {change[0] for change in map(change_of, self.index.events) if change}
        found = []
        for uid in (self._made & self._versions.keys()) - reported:
            for version, manifest in self._versions[uid].items():
                event = Event(f"{uid}.{version}.update", names.UPDATED, "capture", Ref.of(manifest))
                is_ours = any(self.index.writer_of(f"{uid}.{version}.{verb}") for verb in ("add", "update"))
                if not is_ours:
                    found.append((version, Change(event, self.ended, self._created.get(uid), manifest, is_answer=True)))
        return sorted(found, key=lambda each: each[0])

    def moment(self, entry: str) -> int:
        """When an event was received, or a run began, in milliseconds. NotInCapture when nothing has that id."""
        if found := self.index.events.get(entry) or self.index.runs.get(entry):
            return found.at
        raise NotInCapture(f"nothing in this capture has the id {entry}; `olmf events list --from CAPTURE` tells them")

    def final(self) -> dict[Ref, Manifest]:
        """Every object as captured; for a capture without objects, as it was read last."""
        if self._objects:
            return self._objects
        gone = {change_of(received.id) for received in self.index.events.values() if received.type.endswith(".delete")}
        dead = {change[0] for change in gone if change}
        last = [versions[max(versions)] for uid, versions in self._versions.items() if uid not in dead]
        return {Ref.of(manifest): manifest for manifest in sorted(last, key=lambda one: int(resource_version_of(one)))}

    def answers(self, port: type) -> list[Timed]:
        """Every answer of a port with the start time of its run, in the order of the runs."""
        return [(at, answer) for at, answer in _answers(self.index) if answer.port == port.__name__]

    def _change(self, received: ReceivedEvent) -> Change:
        change = change_of(received.id)
        if change is None or not change[1].isdecimal():
            return Change(received.event(), received.at)
        uid, then = change[0], int(change[1])
        versions = self._versions.get(uid, {})
        before = max((version for version in versions if version < then), default=None)
        after = min((version for version in versions if version >= then), default=None)
        if before and after and any(before < ours <= after for ours in self._ours.get(uid, ())):
            before = None
        is_deletion = received.type.endswith(".delete")
        return Change(
            received.event(),
            received.at,
            None if before is None else versions[before],
            None if after is None or is_deletion else versions[after],
            is_answer=uid in self._made and not is_deletion,
        )


def _answers(index: JournalIndex) -> Iterator[Timed]:
    for run in index.runs.values():
        for decision in run.decisions:
            yield from ((run.at, answer) for answer in decision.answers)


def _read(index: JournalIndex) -> Iterable[Manifest]:
    """Every object that a step has read, as it was then; without objects whose body was not stored."""
    desired = [
        digest
        for _, answer in _answers(index)
        if answer.port == "Cluster"
        for digest in (*(answer.bodies or ()), answer.body)
    ]
    for digest in dict.fromkeys(desired):
        body = msgspec.json.decode(index.bodies.get(digest, b"null"))
        if isinstance(body, dict):
            yield body
