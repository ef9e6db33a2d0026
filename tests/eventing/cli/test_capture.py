"""What `olmf capture` says of work that is not finished."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from eventing.cli.commands import lead_to_cluster
from eventing.cli.debug import unfinished_note
from eventing.workqueue import Listed
from shared.kinds import CLUSTER_SERVICE_VERSION

REF = CLUSTER_SERVICE_VERSION.ref("tide.v1", "ns")
DUE = datetime(2026, 1, 1, 0, 1, 30, tzinfo=UTC)
OUT = Path("a.tar")


def a_job(step: str, due: datetime | None = None) -> Listed:
    return Listed(step, REF, "bulk", "delayed" if due else "ready", due=due)


def test_a_capture_of_what_rests_has_nothing_to_note() -> None:
    assert list(unfinished_note([], OUT)) == []


def test_jobs_that_wait_are_noted_with_their_last_time() -> None:
    [note] = unfinished_note([a_job("b/two", DUE), a_job("a/one")], OUT)
    assert note == (
        "jobs that wait or run: 2 (a/one, b/two, the last until 2026-01-01T00:01:30+00:00); what they will write is "
        "not in it, so `olmf replay a.tar --world` may end otherwise; `olmf queue ls` lists them"
    )
    [note] = unfinished_note([a_job("a/one")], OUT)
    assert "(a/one);" in note


def test_a_replay_is_advised_without_the_cluster_of_the_capture() -> None:
    try:
        lead_to_cluster(olmf=("--state", "/there"))
        [note] = unfinished_note([a_job("a/one")], OUT)
    finally:
        lead_to_cluster()
    assert "`olmf replay a.tar --world` may end otherwise; `olmf queue ls --state /there`" in note
