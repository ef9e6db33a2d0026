"""Captures of what a test has in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from eventing.diagnosis.replay import capture
from eventing.journal.journal_index import JournalIndex
from eventing.journal.records import ReceivedEvent, Recorded
from shared.api.manifest import Manifest


def captured(index: JournalIndex, path: Path, objects: Iterable[Manifest] = (), **span: Any) -> int:
    """Write a capture of this journal and these objects, as `capture` does; returns the number of runs."""
    return capture(entries_of(index), path, lambda _: objects, **span)


def entries_of(index: JournalIndex) -> Iterator[ReceivedEvent | Recorded]:
    """The entries of a journal; all bodies are with its first run."""
    yield from index.events.values()
    bodies: dict[str, msgspec.Raw] = index.bodies
    for run in index.runs.values():
        yield Recorded(run, bodies)
        bodies = {}
