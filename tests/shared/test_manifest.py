"""The times in the raw form of a Kubernetes object, and what of it may be shown."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shared.api.manifest import instant, timestamp, without_content


@pytest.mark.parametrize("text", [None, "", "yesterday", "2026-01-01T00:00:00"])
def test_a_time_that_cannot_be_read_is_none(text: str | None) -> None:
    assert instant(text) is None


def test_times_survive_a_round_trip() -> None:
    moment = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert instant(timestamp(moment)) == moment


def test_of_a_secret_its_content_is_left_out_and_of_others_nothing() -> None:
    config_map = {"kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "b"}}
    secret = {**config_map, "apiVersion": "v1", "kind": "Secret", "type": "Opaque"}
    assert without_content(config_map) == config_map
    assert without_content(secret) == {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "metadata": {"name": "c"},
    }
