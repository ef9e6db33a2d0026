"""What a capture tells of the world around us: which object was in which version, and what others changed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from eventing.events import Event, change_of
from eventing.journal import Book, Saw
from eventing.journal.book import writes_of
from eventing.journal.records import Answer
from eventing.replay.archive import Capture
from eventing.routes import WATCHED
from shared.api.manifest import Manifest, uid_of, version_of
from shared.kinds import EVENT, Ref


@dataclass(frozen=True, slots=True)
class Change:
    """Something that happened and that we did not cause."""

    event: Event
    at: int = 0
    before: Manifest | None = None
    """The object as it was recorded before; None: not recorded."""
    after: Manifest | None = None
    """The object as it was then; None: gone, or not recorded."""


class Past:
    """A capture, seen from outside."""

    def __init__(self, capture: Capture) -> None:
        self.book: Book = capture.book
        self._objects = {Ref.of(manifest): manifest for manifest in capture.objects}
        watched = [(kind.api_version, kind.kind) for kind in WATCHED] if self._objects else []
        self._captured = {*watched, *((ref.api_version, ref.kind) for ref in self._objects)}
        self._versions: dict[str, dict[int, Manifest]] = {}
        for manifest in (*_read(self.book), *capture.objects):
            if uid_of(manifest) and version_of(manifest).isdigit():
                self._versions.setdefault(uid_of(manifest), {})[int(version_of(manifest))] = manifest
        writes = [write for run in self.book.runs.values() for write in writes_of(run) if write.did == "sent"]
        self.written = tuple(ref for ref in map(Ref.parse, sorted({w.ref for w in writes})) if ref.kind != EVENT.kind)
        """The objects that we wrote, Kubernetes Events aside."""
        self.uids = {uid: Ref.of(next(iter(versions.values()))) for uid, versions in self._versions.items()}
        """Whose each uid was."""
        self.uids |= {write.uid: Ref.parse(write.ref) for write in writes if write.uid}

    def namespaces(self) -> list[str]:
        """Every namespace that something was in."""
        refs = (*self.uids.values(), *self.written, *(Ref.parse(saw.ref) for saw in self.book.events.values()))
        return sorted({ref.namespace for ref in refs if ref.namespace})

    def changes(self) -> Iterator[Change]:
        """What was there when the journal begins, then what came from outside, in the order in which it was seen."""
        added = {change_of(saw.id) for saw in self.book.events.values() if saw.type.endswith(".add")}
        born = {change[0] for change in added if change}
        made = {write.uid for run in self.book.runs.values() for write in writes_of(run) if write.op == "Create"}
        for uid, versions in self._versions.items():
            first = min(versions)
            if uid not in born | made and self.book.writer_of(f"{uid}.{first}.add") is None:
                ref = Ref.of(versions[first])
                yield Change(Event(f"{uid}.{first}.add", _ADD, "capture", ref), after=versions[first])
        unseen = deque(self._unseen(made))
        for saw in sorted(self.book.events.values(), key=lambda saw: saw.at):
            change = change_of(saw.id)
            while unseen and change and change[1].isdigit() and unseen[0][0] < int(change[1]):
                yield unseen.popleft()[1]
            if self.book.writer_of(saw.id) is None:
                yield self._change(saw)

    def _unseen(self, made: set[str]) -> list[tuple[int, Change]]:
        """What others did to objects that we made, of kinds that nobody watches: known because a step read it."""
        watched = {(kind.api_version, kind.kind) for kind in WATCHED}
        found = [
            (version, Change(Event(f"{uid}.{version}.update", _UPDATE, "capture", Ref.of(manifest)), after=manifest))
            for uid in made & self._versions.keys()
            for version, manifest in self._versions[uid].items()
            if (manifest["apiVersion"], manifest["kind"]) not in watched
            and self.book.writer_of(f"{uid}.{version}.add") is None
            and self.book.writer_of(f"{uid}.{version}.update") is None
        ]
        return sorted(found, key=lambda each: each[0])

    def final(self, ref: Ref) -> Manifest | None:
        """The object as the capture knows it last; None when it was gone."""
        if ref in self._objects or (ref.api_version, ref.kind) in self._captured:
            return self._objects.get(ref)
        gone = {change_of(saw.id) for saw in self.book.events.values() if saw.type.endswith(".delete")}
        dead = {change[0] for change in gone if change}
        known = [each[max(each)] for uid, each in self._versions.items() if self.uids[uid] == ref and uid not in dead]
        return max(known, key=lambda manifest: int(version_of(manifest)), default=None)

    def answers(self, *ports: str) -> list[Answer]:
        """Every answer of these ports, in the order of the runs."""
        return [answer for answer in _answers(self.book) if answer.port in ports]

    def _change(self, saw: Saw) -> Change:
        change = change_of(saw.id)
        if change is None or not change[1].isdigit():
            return Change(saw.event(), saw.at)
        versions, then = self._versions.get(change[0], {}), int(change[1])
        before = max((version for version in versions if version < then), default=None)
        after = min((version for version in versions if version >= then), default=None)
        is_deletion = saw.type.endswith(".delete")
        return Change(
            saw.event(),
            saw.at,
            None if before is None else versions[before],
            None if after is None or is_deletion else versions[after],
        )


_UPDATE = "dev.knative.apiserver.resource.update"
_ADD = "dev.knative.apiserver.resource.add"


def _answers(book: Book) -> Iterator[Answer]:
    for run in book.runs.values():
        for decision in run.decisions:
            yield from decision.answers


def _read(book: Book) -> Iterable[Manifest]:
    """Every object that a step has read, as it was then; without those whose body was not kept."""
    wanted = [
        digest
        for answer in _answers(book)
        if answer.port == "Cluster"
        for digest in (*(answer.bodies or ()), answer.body)
    ]
    for digest in dict.fromkeys(wanted):
        body = msgspec.json.decode(book.bodies.get(digest, b"null"))
        if isinstance(body, dict):
            yield body
