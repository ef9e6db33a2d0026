"""What is put together fits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eventing.events.event import Event
from eventing.journal import read_files
from eventing.wiring import waking
from eventing.wiring.intake import sink
from eventing.wiring.waking import Waking
from shared import names
from shared.config import Settings
from shared.kinds import NAMESPACE


def test_the_journal_is_kept_in_files_where_that_is_wished(redis_url: str, tmp_path: Path) -> None:
    event = Event("event-1", names.ADDED, "test", NAMESPACE.ref("team-a"))
    for settings in (Settings(redis_url=redis_url), Settings(redis_url=redis_url, journal_files=str(tmp_path))):
        sink(settings)([event])
    assert [getattr(entry, "id", "") for entry in read_files(tmp_path)] == ["event-1"]


def test_a_wake_up_carries_the_first_token_of_the_file_as_it_is_now(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Event] = []

    def send(_: str, event: Event, *__: Any, **___: Any) -> None:
        sent.append(event)

    monkeypatch.setattr(waking, "send", send)
    file = tmp_path / "tokens"
    of_file = Waking(Settings(redis_url=redis_url, broker="http://b", endpoint_token_file=str(file)), lambda *_: None)
    for tokens in ("one\n", "two\none\n"):
        file.write_text(tokens)
        of_file._send("fanout")
    assert [one.hints[names.KNOWN_BY] for one in sent] == ["one", "two"]
    file.write_text("\n")
    with pytest.raises(OSError, match=r"OLMF_ENDPOINT_TOKEN_FILE: .*tokens has no token"):
        of_file._send("fanout")
    Waking(Settings(redis_url=redis_url, broker="http://b"), lambda *_: None)._send("fanout")
    assert names.KNOWN_BY not in sent[-1].hints, "where nobody wants one there is none"
