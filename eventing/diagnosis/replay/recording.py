"""Extracts from a capture the versions of each object, and the changes that other clients made."""

from __future__ import annotations

from collections.abc import Iterator
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
from shared.api.manifest import Manifest, is_deleted, resource_version_of, uid_of
from shared.domain.command import olmf
from shared.kinds import EVENT, Ref
from shared.ports import Catalogs
from shared.resource_versions import Order, order_of


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
    is_deletion: bool = False
    """Somebody asked for the end of the object, which finalizers may keep for a while."""


class Recording:
    """The changes of other clients in a capture."""

    def __init__(self, capture: Capture) -> None:
        self.index: JournalIndex = capture.index
        self._objects = {Ref.of(manifest): manifest for manifest in capture.objects}
        self._versions: dict[str, dict[Order, Manifest]] = {}
        self._read_at: dict[tuple[str, Order], int] = {}
        for manifest in capture.objects:
            self._note(manifest)
        for at, manifest in _read(self.index):  # of one version, what a step has read counts
            self._note(manifest, at)
        writes = [write for run in self.index.runs.values() for write in writes_of(run) if write.did == "sent"]
        self.written = tuple(ref for ref in map(Ref.parse, sorted({w.ref for w in writes})) if ref.kind != EVENT.kind)
        """The objects that we wrote, without Kubernetes Events."""
        self.uids = {uid: Ref.of(next(iter(versions.values()))) for uid, versions in self._versions.items()}
        """The ref that belongs to each uid."""
        self.uids |= {write.uid: Ref.parse(write.ref) for write in writes if write.uid}
        times = [run.at for run in self.index.runs.values()]
        self.began, self.ended = min(times, default=0), max(times, default=0) + 1000
        self._ours: dict[str, list[Order]] = {}
        for write in writes:
            if (order := order_of(write.version)) and write.op != "SetStatus":
                self._ours.setdefault(write.uid, []).append(order)
        self._created = {write.uid: made for write in writes if (made := self._creation(write))}
        added = (change_of(received.id) for received in self.index.events.values() if received.type.endswith(".add"))
        self._born = {change[0]: order for change in added if change and (order := order_of(change[1]))}
        self._made = {write.uid for write in writes if write.op == "Create" or self._is_first(write)}

    def _note(self, manifest: Manifest, read_at: int | None = None) -> None:
        """Remember a version of an object, and when a step has read it first."""
        uid, order = uid_of(manifest), order_of(resource_version_of(manifest))
        if not uid or not order:
            return
        self._versions.setdefault(uid, {})[order] = manifest
        if read_at is not None:
            self._read_at[uid, order] = min(read_at, self._read_at.get((uid, order), read_at))

    def _is_first(self, write: Write) -> bool:
        """Whether the write applied an object without a known older version."""
        known, order = self._versions.get(write.uid), order_of(write.version)
        return write.op == "Apply" and order is not None and (not known or order <= min(known))

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
        changes = (self._of_objects(), self._of_events(), self._unseen(), self._of_images())
        return merge(*changes, key=lambda change: change.at)

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
        """The objects that were there before the first event."""
        for uid, versions in self._versions.items():
            first = min(versions)
            born = self._born.get(uid)
            if uid not in self._made and (born is None or first < born):
                there = versions[first]
                event = Event(f"{uid}.{first[1]}.add", names.ADDED, "capture", Ref.of(there))
                yield Change(event, self.began, after=there, is_deletion=is_deleted(there))

    def _of_events(self) -> Iterator[Change]:
        for received in sorted(self.index.events.values(), key=lambda received: received.at):
            if self.index.writer_of(received.id) is None:
                yield self._change(received)

    def _unseen(self) -> list[Change]:
        """Changes by others to objects that we made and no event tells of, as builds before did not watch their kind.

        They are known because a step read them, and so had happened when its run began.
        """
        reported = {change[0] for change in map(change_of, self.index.events) if change}
        found = []
        for uid in (self._made & self._versions.keys()) - reported:
            for order, manifest in sorted(self._versions[uid].items(), key=lambda each: each[0]):
                event = Event(f"{uid}.{order[1]}.update", names.UPDATED, "capture", Ref.of(manifest))
                is_ours = any(self.index.writer_of(f"{uid}.{order[1]}.{verb}") for verb in ("add", "update"))
                if not is_ours:
                    at = self._read_at.get((uid, order), self.ended)
                    found.append(Change(event, at, self._created.get(uid), manifest, is_answer=True))
        return sorted(found, key=lambda change: change.at)

    def moment(self, entry: str) -> int:
        """When an event was received, or a run began, in milliseconds. NotInCapture when nothing has that id."""
        if found := self.index.events.get(entry) or self.index.runs.get(entry):
            return found.at
        raise NotInCapture(
            f"nothing in this capture has the id {entry}; `{olmf('events', 'list', '--from', 'CAPTURE')}` lists them"
        )

    def final(self) -> dict[Ref, Manifest]:
        """Every object as captured; for a capture without objects, as it was read last."""
        if self._objects:
            return self._objects
        gone = {change_of(received.id) for received in self.index.events.values() if received.type.endswith(".delete")}
        dead = {change[0] for change in gone if change}
        last = {uid: max(versions) for uid, versions in self._versions.items() if uid not in dead}
        found: dict[Ref, tuple[Order, Manifest]] = {}
        for uid, order in last.items():
            manifest = self._versions[uid][order]
            ref = Ref.of(manifest)
            if ref not in found or found[ref][0] < order:  # of two with that name, one was deleted
                found[ref] = order, manifest
        return {ref: manifest for ref, (_, manifest) in found.items()}

    def answers(self, port: type) -> list[Timed]:
        """Every answer of a port with the start time of its run, in the order of the runs."""
        return [(at, answer) for at, answer in _answers(self.index) if answer.port == port.__name__]

    def _change(self, received: ReceivedEvent) -> Change:
        change = change_of(received.id)
        then = order_of(change[1]) if change else None
        if change is None or then is None:
            return Change(received.event(), received.at)
        uid = change[0]
        versions = self._versions.get(uid, {})
        before = max((version for version in versions if version < then), default=None)
        after = min((version for version in versions if version >= then), default=None)
        if before and after and any(before < ours <= after for ours in self._ours.get(uid, ())):
            before = None
        is_gone = received.type.endswith(".delete")
        found = Change(
            received.event(),
            received.at,
            None if before is None else versions[before],
            None if after is None or is_gone else versions[after],
            is_answer=uid in self._made and not is_gone,
        )
        return replace(found, is_deletion=self._is_deletion(found))

    def _is_deletion(self, change: Change) -> bool:
        """Whether the change begins the end of the object, and none of our steps had asked for that."""
        is_begun = is_deleted(change.after or {}) and not is_deleted(change.before or {})
        writes = self.index.writes_to(change.event.ref) if is_begun else ()
        return is_begun and not any(write.op == "Delete" and run.at <= change.at for run, write in writes)


def _answers(index: JournalIndex) -> Iterator[Timed]:
    for run in index.runs.values():
        for decision in run.decisions:
            yield from ((run.at, answer) for answer in decision.answers)


def _read(index: JournalIndex) -> Iterator[tuple[int, Manifest]]:
    """Every object that a step has read, as it was then, and when; without objects whose body was not stored."""
    first: dict[str, int] = {}
    for at, answer in _answers(index):
        for digest in (*(answer.bodies or ()), answer.body) if answer.port == "Cluster" else ():
            first[digest] = min(at, first.get(digest, at))
    for digest, at in first.items():
        body = msgspec.json.decode(index.bodies.get(digest, b"null"))
        if isinstance(body, dict):
            yield at, body
