"""The journal as files is read as it was written, and stays within its bound."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from eventing.events.event import Event
from eventing.journal import JournalFiles, JournalIndex, Recorder, Run, read_files
from eventing.journal.files import MOST_FILES
from eventing.journal.records import ReceivedEvent, pack
from shared import names
from shared.kinds import CONFIG_MAP

ONE = CONFIG_MAP.ref("one", "olm")


def an_event(number: int) -> bytes:
    return pack(ReceivedEvent.of(Event(f"event-{number}", names.RESYNC_REQUESTED, "test", ONE), at=number))


def test_entries_of_all_processes_are_read_in_the_order_of_time(tmp_path: Path) -> None:
    events = JournalFiles(tmp_path, "watch")
    recorder = Recorder(b"key", also=JournalFiles(tmp_path, "worker-1").append)
    for at in (1, 3):
        events.append(an_event(at))
    recorder.record(Run("run-2", "demo/step", str(ONE), 2, 1.0, "0", message="x" * 10_000), {})
    read = [entry.id if isinstance(entry, ReceivedEvent) else entry.run.id for entry in read_files(tmp_path)]
    assert read == ["event-1", "run-2", "event-3"]
    assert JournalIndex.of(read_files(tmp_path)).run("run-2") is not None


def test_the_oldest_entries_are_forgotten(tmp_path: Path) -> None:
    files = JournalFiles(tmp_path, "watch", file_bytes=1_000, folder_bytes=3_000)
    for number in range(200):
        files.append(an_event(number))
    read = [entry.id for entry in read_files(tmp_path) if isinstance(entry, ReceivedEvent)]
    assert read == [f"event-{number}" for number in range(200 - len(read), 200)]
    assert 10 < len(read) < 50
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 3_000


def test_files_of_processes_that_ended_are_forgotten_the_oldest_first(tmp_path: Path) -> None:
    for number in range(3):
        JournalFiles(tmp_path, f"worker-{number}").append(an_event(number))
        os.utime(tmp_path / f"worker-{number}.jsonl", (number, number))
    size = len(an_event(0)) + 1
    JournalFiles(tmp_path, "worker-3", file_bytes=size, folder_bytes=3 * size).append(an_event(3))
    assert [entry.id for entry in read_files(tmp_path) if isinstance(entry, ReceivedEvent)] == [
        "event-1",
        "event-2",
        "event-3",
    ]


def test_processes_that_soon_ended_leave_no_crowd_of_files(tmp_path: Path) -> None:
    for number in range(MOST_FILES + 5):
        (tmp_path / f"worker-{number}.jsonl").touch()
    JournalFiles(tmp_path, "worker")
    assert len(list(tmp_path.iterdir())) == MOST_FILES


def test_a_disk_that_takes_nothing_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "watch.jsonl").mkdir()
    with capture_logs() as output:
        JournalFiles(tmp_path, "watch").append(an_event(1))
    assert [(line["event"], line["file"]) for line in output] == [
        ("journal_file_failed", str(tmp_path / "watch.jsonl"))
    ]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(an_event(2)[:20], id="a kill while it was written"),
        pytest.param(b"\0" * 20 + b"\n", id="a machine that failed"),
    ],
)
def test_a_line_that_is_no_entry_hides_nothing(tmp_path: Path, damage: bytes) -> None:
    files = JournalFiles(tmp_path, "watch")
    files.append(an_event(1))
    (tmp_path / "damaged.jsonl").write_bytes(damage)
    assert [entry.id for entry in read_files(tmp_path) if isinstance(entry, ReceivedEvent)] == ["event-1"]
