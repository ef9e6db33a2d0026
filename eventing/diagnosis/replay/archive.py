"""Writes and reads captures: the journal and the objects of an incident in one tar, without Secret data."""

from __future__ import annotations

import io
import json
import secrets
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from eventing.journal.bodies import Bodies
from eventing.journal.journal_index import JournalIndex, writes_of
from eventing.journal.recorder import digests_of
from eventing.journal.records import ReceivedEvent, Recorded, Run
from eventing.journal.redact import Redactor
from shared import names
from shared.api.manifest import Manifest, labels_of
from shared.domain.bundle.shape import defect
from shared.domain.command import olmf
from shared.kinds import EVENT, SUBSCRIPTION, WATCHED, Ref
from shared.ports import Cluster

VERSION = 1
_MAX_MEMBER = 1024 * 1024 * 1024
_INDEX, _EVENTS, _RUNS, _BODIES, _OBJECTS = (
    "capture.json", "events.jsonl", "runs.jsonl", "bodies.jsonl", "objects.jsonl",
)  # fmt: skip


class NotACapture(ValueError):
    """The file is not a capture, or has a version that this program does not support."""


class NotInCapture(LookupError):
    """The capture has nothing with that id."""


@dataclass(frozen=True, slots=True)
class Capture:
    """The content of a capture."""

    index: JournalIndex
    objects: tuple[Manifest, ...] = ()


def capture(
    index: JournalIndex, path: Path, objects: Iterable[Manifest] = (), *, since_ms: int = 0, until_ms: int | None = None
) -> int:
    """Write the runs and events of a time span, and the given objects, to a tar; returns the number of runs.

    Secret data is not in the journal; of the objects it is replaced here, by hashes under a key
    that is not stored, so they cannot be guessed. A name that ends in `gz` is compressed.
    """
    runs = [run for run in index.runs.values() if since_ms <= run.at and (until_ms is None or run.at <= until_ms)]
    events = [
        received
        for received in index.events.values()
        if since_ms <= received.at and (until_ms is None or received.at <= until_ms)
    ]
    needed = {digest for run in runs for digest in digests_of(run)}
    redactor = Redactor(secrets.token_bytes(32))
    redact = Bodies(redactor, lambda: 0).raw
    found = sorted(objects, key=lambda one: one.get("kind") != SUBSCRIPTION.kind)  # what they give is then known
    present = [redact(one) for one in found]
    bodies = {
        digest: msgspec.Raw(redact(msgspec.json.decode(body))) if redactor.knows(bytes(body)) else body
        for digest, body in index.bodies.items()
        if digest in needed
    }
    members = {
        _INDEX: [json.dumps({"version": VERSION, "runs": len(runs), "events": len(events)}).encode()],
        _EVENTS: map(msgspec.json.encode, events),
        _RUNS: map(msgspec.json.encode, runs),
        _BODIES: (msgspec.json.encode({digest: body}) for digest, body in bodies.items()),
        _OBJECTS: present,
    }
    with tarfile.open(path, "w:gz" if path.name.endswith("gz") else "w") as tar:
        for name, lines in members.items():
            content = b"".join(line + b"\n" for line in lines)
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return len(runs)


def present_objects(cluster: Cluster, index: JournalIndex) -> Iterator[Manifest]:
    """The objects of a cluster for a capture: what is watched of each kind, and all others that we wrote."""
    ours = {kind for kind in WATCHED if kind.watch and kind.watch.is_ours_alone}
    for kind in WATCHED:
        yield from cluster.list(kind, labels={names.MANAGED: "true"} if kind in ours else None)
    listed = {(kind.api_version, kind.kind) for kind in {*WATCHED, EVENT} - ours}
    written = {write.ref for run in index.runs.values() for write in writes_of(run) if write.did == "sent"}
    for ref in map(Ref.parse, sorted(written)):
        manifest = None if (ref.api_version, ref.kind) in listed else cluster.get(ref)
        if manifest and not (ref.kind in {kind.kind for kind in ours} and names.MANAGED in labels_of(manifest)):
            yield manifest


def open_capture(path: Path) -> Capture:
    """Read a capture. NotACapture says what is wrong with the file."""
    try:
        with tarfile.open(path, "r:*") as tar:
            return _read(tar)
    except FileNotFoundError:
        raise
    except (tarfile.TarError, zlib.error, EOFError) as error:
        why = f"it is not a tar archive, or only a part of one; `{olmf('capture', '-o', 'FILE')}` writes one"
        raise NotACapture(f"{path}: not a capture of olmf: {why}") from error
    except (ValueError, KeyError, OSError) as error:
        why = getattr(error, "strerror", None) or error.args[0]
        raise NotACapture(f"{path}: not a capture of olmf: {why}") from error


def _read(tar: tarfile.TarFile) -> Capture:
    (head,) = _lines(tar, _INDEX, dict[str, Any])
    match head.get("version"):
        case int(version) if version > VERSION:
            raise NotACapture(
                f"a newer olmf wrote it, in version {version}; this one reads up to {VERSION}: read it with that olmf"
            )
        case version if version != VERSION:
            raise NotACapture(f"version {version!r}, wanted {VERSION}")
    index = JournalIndex()
    for received in _lines(tar, _EVENTS, ReceivedEvent):
        index.add(received)
    for bodies in _lines(tar, _BODIES, dict[str, msgspec.Raw]):
        index.bodies.update(bodies)
    for run in _lines(tar, _RUNS, Run):
        index.add(Recorded(run))
    objects = tuple(_lines(tar, _OBJECTS, dict[str, Any]))
    _check_refs(index, objects)
    return Capture(index, objects)


def _check_refs(index: JournalIndex, objects: Iterable[Manifest]) -> None:
    """NotACapture or ValueError when something is not about an object: callers parse refs where they need them."""
    for ref in index.refs() | {write.ref for run in index.runs.values() for write in writes_of(run)}:
        Ref.parse(ref)
    for manifest in objects:
        if wrong := defect(manifest):
            raise NotACapture(f"{_OBJECTS}: {wrong}")


def _lines(tar: tarfile.TarFile, name: str, kind: type[Any]) -> Iterator[Any]:
    member = tar.getmember(name)
    file = tar.extractfile(member)
    if file is None or member.size > _MAX_MEMBER:
        raise NotACapture(f"{name} is not a file of at most {_MAX_MEMBER} bytes")
    decoder = msgspec.json.Decoder(kind)
    for line in file:
        yield decoder.decode(line)
