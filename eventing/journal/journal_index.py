"""A journal in memory: runs, events and bodies by what one asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import msgspec

from eventing.events.event import change_of
from eventing.journal.records import ReceivedEvent, Recorded, Run, Write
from shared.kinds import Ref


class Unrecorded(LookupError):
    """A body that a run names is not in the journal: it was too long, or what carried it was trimmed."""


@dataclass(slots=True)
class JournalIndex:
    """Entries in the order in which they were written."""

    runs: dict[str, Run] = field(default_factory=dict)
    events: dict[str, ReceivedEvent] = field(default_factory=dict)
    bodies: dict[str, msgspec.Raw] = field(default_factory=dict)
    _by_ref: dict[str, list[Run]] = field(default_factory=dict)
    _writers: dict[str, list[tuple[Run, Write]]] = field(default_factory=dict)
    _by_version: dict[tuple[str, str], tuple[Run, Write]] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: Iterable[Recorded | ReceivedEvent]) -> JournalIndex:
        """The index of these entries."""
        index = cls()
        for entry in entries:
            index.add(entry)
        return index

    def add(self, entry: Recorded | ReceivedEvent) -> None:
        """Append one entry."""
        if isinstance(entry, ReceivedEvent):
            self.events[entry.id] = entry
            return
        run = entry.run
        self.bodies.update(entry.bodies)
        self.runs[run.id] = run
        self._by_ref.setdefault(run.ref, []).append(run)
        for write in writes_of(run):
            if write.did == "sent":
                self._writers.setdefault(write.ref, []).append((run, write))
                if write.version:
                    self._by_version[write.uid, write.version] = (run, write)

    def runs_for(self, ref: Ref) -> tuple[Run, ...]:
        """The runs of all steps on one object, oldest first."""
        return tuple(self._by_ref.get(str(ref), ()))

    def writes_to(self, ref: Ref) -> tuple[tuple[Run, Write], ...]:
        """What we wrote to one object, oldest first."""
        return tuple(self._writers.get(str(ref), ()))

    def refs(self) -> set[str]:
        """The refs of all events and runs, as text."""
        return {received.ref for received in self.events.values()} | self._by_ref.keys()

    def run(self, run_id: str) -> Run | None:
        """The run of that id."""
        return self.runs.get(run_id)

    def event(self, event_id: str) -> ReceivedEvent | None:
        """The event of that id."""
        return self.events.get(event_id)

    def writer_of(self, event_id: str) -> tuple[Run, Write] | None:
        """The write of ours that caused a watch event; None when somebody else did."""
        if event_id.endswith(".delete"):
            return self._deleter_of(event_id)
        change = change_of(event_id)
        return self._by_version.get(change) if change else None

    def _deleter_of(self, event_id: str) -> tuple[Run, Write] | None:
        # why: a deletion has no version of its own where a watcher finds out late, so ref and time must do
        received = self.events.get(event_id)
        writers = self._writers.get(received.ref, ()) if received else ()
        return next(
            (
                (run, write)
                for run, write in reversed(writers)
                if write.op == "Delete" and received and run.at <= received.at
            ),
            None,
        )

    def body(self, digest: str) -> msgspec.Raw:
        """A body. Unrecorded when it is not there."""
        try:
            return self.bodies[digest]
        except KeyError:
            raise Unrecorded(f"body {digest} is not in the journal") from None


def writes_of(run: Run) -> Iterator[Write]:
    """All writes of a run, in order."""
    for decision in run.decisions:
        yield from decision.writes
