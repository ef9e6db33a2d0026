"""The condition `Pulling` of a CatalogSource."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from shared.api.views import CatalogSource
from shared.domain.catalog_source import with_pulling, without_pulling
from shared.domain.progress import Progress

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OTHER = {"type": "Other", "status": "True", "lastTransitionTime": "2025-01-01T00:00:00Z"}


def test_it_says_how_far_the_pull_is_beside_what_others_say() -> None:
    source = {"status": {"message": "kept", "conditions": [OTHER]}}
    progress = Progress(1, 5, 600, "pulling", 10_000_000, 20_000_000, 0, 1)
    status = with_pulling(CatalogSource(source), progress, NOW)

    own = {
        "type": "Pulling", "status": "True", "reason": "Pulling", "message": str(progress),
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    assert status == {"message": "kept", "conditions": [OTHER, own]}
    later = with_pulling(
        CatalogSource({"status": status}), Progress(1, 50, 600, "indexing"), NOW + timedelta(seconds=45)
    )
    assert [one["lastTransitionTime"] for one in later["conditions"]] == [
        "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"
    ]  # fmt: skip
    assert later["conditions"][1]["reason"] == "Indexing"


def test_a_run_that_does_neither_has_the_name_of_the_condition_as_reason() -> None:
    [condition] = with_pulling(CatalogSource({}), Progress(1, 5, 600), NOW)["conditions"]
    assert condition["reason"] == "Pulling"


def test_the_status_without_it_keeps_all_else() -> None:
    shown = with_pulling(CatalogSource({"status": {"reason": "x"}}), Progress(), NOW)
    assert without_pulling(shown) == {"reason": "x"}
    assert without_pulling({"conditions": [OTHER]}) == {"conditions": [OTHER]}
    assert without_pulling({"reason": "x"}) == {"reason": "x"}
