"""What is put together fits."""

from __future__ import annotations

from pathlib import Path

from eventing.events.event import Event
from eventing.journal import read_files
from eventing.wiring.intake import sink
from shared import names
from shared.config import Settings
from shared.kinds import NAMESPACE


def test_the_journal_is_kept_in_files_where_that_is_wished(redis_url: str, tmp_path: Path) -> None:
    event = Event("event-1", names.ADDED, "test", NAMESPACE.ref("team-a"))
    for settings in (Settings(redis_url=redis_url), Settings(redis_url=redis_url, journal_files=str(tmp_path))):
        sink(settings)([event])
    assert [getattr(entry, "id", "") for entry in read_files(tmp_path)] == ["event-1"]
