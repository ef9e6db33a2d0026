"""Remembers every event and every run: what each step was told, what it decided, what the API server answered.

For the command line: `RedisJournal(client).brief_index()` reads the journal, `why(index, ref, jobs)` answers (`text_of`
for people, `.json()` for machines).
"""

from __future__ import annotations

from eventing.journal.changes import RedisChanges
from eventing.journal.files import JournalFiles, read_files
from eventing.journal.journal_index import JournalIndex, Unrecorded
from eventing.journal.recorder import Recorder
from eventing.journal.records import EVENT, RUN, STREAM, ReceivedEvent, Recorded, Run
from eventing.journal.stream import RedisJournal

__all__ = [
    "EVENT",
    "RUN",
    "STREAM",
    "JournalFiles",
    "JournalIndex",
    "ReceivedEvent",
    "Recorded",
    "Recorder",
    "RedisChanges",
    "RedisJournal",
    "Run",
    "Unrecorded",
    "read_files",
]
