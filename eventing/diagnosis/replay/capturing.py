"""Writes captures: the journal and the objects of an incident in one tar, without Secret data."""

from __future__ import annotations

import secrets
import tarfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TypeAlias

import msgspec

from eventing.diagnosis.replay.archive import BODIES, EVENTS, INDEX, OBJECTS, RUNS, VERSION
from eventing.journal.bodies import Bodies
from eventing.journal.journal_index import writes_of
from eventing.journal.recorder import digests_of
from eventing.journal.records import ReceivedEvent, Recorded
from eventing.journal.redact import Redactor
from eventing.journal.redacted import renamed
from shared import names
from shared.api.manifest import Manifest, labels_of
from shared.kinds import EVENT, SUBSCRIPTION, WATCHED, Ref
from shared.ports import Cluster

Entries: TypeAlias = Iterable[Recorded | ReceivedEvent]
Objects: TypeAlias = Callable[[Iterable[str]], Iterable[Manifest]]
"""Returns the present objects, Subscriptions first; the refs are of what we wrote."""

_by_digest = msgspec.json.Decoder(dict[str, msgspec.Raw])


@dataclass(slots=True)
class _Lines:
    """A member of the tar while it is written, in a file."""

    file: IO[bytes]
    renames: Callable[[bytes], bytes]
    """Replaces the stand-ins of the journal by those of the capture."""
    count: int = 0

    def add(self, value: object) -> None:
        self.file.write(self.renames(msgspec.json.encode(value)) + b"\n")
        self.count += 1

    def __iter__(self) -> Iterator[bytes]:
        self.file.seek(0)
        return iter(self.file)


@dataclass(slots=True)
class _Journal:
    """The entries of a time span, and what they name: written refs, and digests of bodies."""

    events: _Lines
    runs: _Lines
    bodies: _Lines
    """Those of all entries, as they are in the journal: what a run names is often with an earlier one."""
    written: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)
    _seen: set[str] = field(default_factory=set)
    """Ids of runs and events, and digests: several processes store one body, and an event is delivered again."""

    def add(self, entry: Recorded | ReceivedEvent, since_ms: int, until_ms: float) -> None:
        if isinstance(entry, ReceivedEvent):
            if since_ms <= entry.at <= until_ms and self._is_new(entry.id):
                self.events.add(entry)
            return
        for digest, body in entry.bodies.items():
            if self._is_new(digest):
                self.bodies.add({digest: body})
        if since_ms <= entry.run.at <= until_ms and self._is_new(entry.run.id):
            self.runs.add(entry.run)
            self.named.update(digests_of(entry.run))
            self.written.update(write.ref for write in writes_of(entry.run) if write.did == "sent")

    def _is_new(self, name: str) -> bool:
        is_new = name not in self._seen
        self._seen.add(name)
        return is_new


def capture(
    entries: Entries,
    path: Path,
    objects: Objects = lambda _: (),
    *,
    key: bytes = b"",
    since_ms: int = 0,
    until_ms: float = float("inf"),
) -> int:
    """Write the runs and events of a time span, and the present objects, to a tar; returns the number of runs.

    Secret data is not in the journal; of the objects it is replaced here, by the same hashes, under the `key` of the
    journal. All hashes are then hashed under a key that is not stored: one value is one word in a capture and another
    in the next, and cannot be guessed. A name that ends in `gz` is compressed. A full journal is larger than the memory
    that a pod may have left: entries are read once, into temporary files.
    """
    with ExitStack() as opened:
        renames = partial(renamed, key=secrets.token_bytes(32))

        def lines(renames: Callable[[bytes], bytes] = renames) -> _Lines:
            return _Lines(opened.enter_context(TemporaryFile()), renames)

        journal, present, bodies, head = _Journal(lines(), lines(), lines(bytes)), lines(), lines(), lines()
        for entry in entries:
            journal.add(entry, since_ms, until_ms)
        redactor = Redactor(key)
        redact = Bodies(redactor, lambda: 0).raw
        for manifest in objects(journal.written):
            present.add(msgspec.Raw(redact(manifest)))
        for digest, body in _named(journal):  # after the objects: what Subscriptions give is then known
            is_known = redactor.knows(bytes(body))
            bodies.add({digest: msgspec.Raw(redact(msgspec.json.decode(body))) if is_known else body})
        head.add({"version": VERSION, "runs": journal.runs.count, "events": journal.events.count})
        _pack(path, {INDEX: head, EVENTS: journal.events, RUNS: journal.runs, BODIES: bodies, OBJECTS: present})
        return journal.runs.count


def _named(journal: _Journal) -> Iterator[tuple[str, msgspec.Raw]]:
    """The bodies that runs name."""
    for line in journal.bodies:
        for digest, body in _by_digest.decode(line).items():
            if digest in journal.named:
                yield digest, body


def _pack(path: Path, members: dict[str, _Lines]) -> None:
    with tarfile.open(path, "w:gz" if path.name.endswith("gz") else "w") as tar:
        for name, lines in members.items():
            member = tarfile.TarInfo(name)
            member.size = lines.file.seek(0, 2)
            lines.file.seek(0)
            tar.addfile(member, lines.file)


def present_objects(cluster: Cluster, written: Iterable[str]) -> Iterator[Manifest]:
    """The objects of a cluster for a capture: what is watched of each kind, and all others that we wrote."""
    ours = {kind for kind in WATCHED if kind.watch and kind.watch.is_ours_alone}
    for kind in sorted(WATCHED, key=lambda kind: kind != SUBSCRIPTION):
        yield from cluster.list(kind, labels={names.MANAGED: "true"} if kind in ours else None)
    listed = {(kind.api_version, kind.kind) for kind in {*WATCHED, EVENT} - ours}
    for ref in map(Ref.parse, sorted(written)):
        manifest = None if (ref.api_version, ref.kind) in listed else cluster.get(ref)
        if manifest and not (ref.kind in {kind.kind for kind in ours} and names.MANAGED in labels_of(manifest)):
            yield manifest
