"""The times in the raw form of a Kubernetes object."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shared.api.manifest import instant, timestamp


@pytest.mark.parametrize("text", [None, "", "yesterday", "2026-01-01T00:00:00"])
def test_a_time_that_cannot_be_read_is_none(text: str | None) -> None:
    assert instant(text) is None


def test_times_survive_a_round_trip() -> None:
    moment = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert instant(timestamp(moment)) == moment
