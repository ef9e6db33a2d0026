"""Reads captures: the journal and the objects of an incident in one tar."""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from eventing.journal.journal_index import JournalIndex, writes_of
from eventing.journal.records import ReceivedEvent, Recorded, Run
from shared.api.manifest import Manifest
from shared.domain.bundle.shape import defect
from shared.domain.command import olmf
from shared.kinds import Ref

VERSION = 1
_MAX_MEMBER = 1024 * 1024 * 1024
INDEX, EVENTS, RUNS, BODIES, OBJECTS = (
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
    (head,) = _lines(tar, INDEX, dict[str, Any])
    match head.get("version"):
        case int(version) if version > VERSION:
            raise NotACapture(
                f"a newer olmf wrote it, in version {version}; this one reads up to {VERSION}: read it with that olmf"
            )
        case version if version != VERSION:
            raise NotACapture(f"version {version!r}, wanted {VERSION}")
    index = JournalIndex()
    for received in _lines(tar, EVENTS, ReceivedEvent):
        index.add(received)
    for bodies in _lines(tar, BODIES, dict[str, msgspec.Raw]):
        index.bodies.update(bodies)
    for run in _lines(tar, RUNS, Run):
        index.add(Recorded(run))
    objects = tuple(_lines(tar, OBJECTS, dict[str, Any]))
    _check_refs(index, objects)
    return Capture(index, objects)


def _check_refs(index: JournalIndex, objects: Iterable[Manifest]) -> None:
    """NotACapture or ValueError when something is not about an object: callers parse refs where they need them."""
    for ref in index.refs() | {write.ref for run in index.runs.values() for write in writes_of(run)}:
        Ref.parse(ref)
    for manifest in objects:
        if wrong := defect(manifest):
            raise NotACapture(f"{OBJECTS}: {wrong}")


def _lines(tar: tarfile.TarFile, name: str, kind: type[Any]) -> Iterator[Any]:
    member = tar.getmember(name)
    file = tar.extractfile(member)
    if file is None or member.size > _MAX_MEMBER:
        raise NotACapture(f"{name} is not a file of at most {_MAX_MEMBER} bytes")
    decoder = msgspec.json.Decoder(kind)
    for line in file:
        yield decoder.decode(line)
