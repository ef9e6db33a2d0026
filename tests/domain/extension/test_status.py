"""Messages of conditions (v1.md §11, §11.4)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shared.api.views import Object
from shared.domain.conditions import Condition, sanitised
from shared.domain.extension.status import LONGEST, cut, with_conditions

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("length", [0, 5, LONGEST])
def test_v1_md_11_4_what_fits_is_not_cut(length: int) -> None:
    assert cut("x" * length) == "x" * length


@pytest.mark.parametrize("length", [LONGEST + 1, LONGEST * 3])
def test_v1_md_11_4_what_does_not_fit_is_cut(length: int) -> None:
    found = cut("x" * length)
    assert len(found.encode()) == LONGEST
    assert found.endswith("x\n\n... [message truncated]")
    assert len(cut("ä" * length).encode()) <= LONGEST


def test_v1_md_11_4_ports_are_left_out() -> None:
    assert sanitised("Get: read tcp 10.0.0.1:5->10.0.0.2:443: refused") == "Get: refused"


def test_a_time_changes_with_the_status_alone() -> None:
    old = {"type": "A", "status": "True", "reason": "X", "message": "m", "lastTransitionTime": "2025-01-01T00:00:00Z"}
    obj = Object({"metadata": {"generation": 3}, "status": {"conditions": [old, {"type": "B", "status": "True"}]}})
    [found, other] = with_conditions(obj, [Condition("A", "True", "Y", "n")], NOW)
    assert (found["lastTransitionTime"], found["reason"]) == ("2025-01-01T00:00:00Z", "Y")
    assert found["observedGeneration"] == 3
    assert other == {"type": "B", "status": "True"}
    [turned, _] = with_conditions(obj, [Condition("A", "False", "Y", "n")], NOW)
    assert turned["lastTransitionTime"] == "2026-01-01T00:00:00Z"
