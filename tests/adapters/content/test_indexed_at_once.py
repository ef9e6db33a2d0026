"""How many catalogs one process indexes at a time."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import BytesIO

import pytest

from shared.adapters.content.snapshot import writing

_MEETING_SECONDS = 0.5
"""How long each waits for the others; who does not come in that time would have to be slow for the test to miss it."""


def test_no_more_than_two_catalogs_are_indexed_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    three, met, done = threading.Barrier(3), threading.Event(), threading.Semaphore(0)

    def write(*_: object, **__: object) -> None:
        with suppress(threading.BrokenBarrierError):
            three.wait(_MEETING_SECONDS)
            met.set()
        done.release()

    monkeypatch.setattr(writing, "_write", write)
    with ThreadPoolExecutor(3) as threads:
        for _ in range(3):
            threads.submit(writing.write, BytesIO(), ())
    assert not met.is_set()
    assert all(done.acquire(blocking=False) for _ in range(3)), "each had its turn"
