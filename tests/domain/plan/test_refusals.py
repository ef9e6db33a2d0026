"""What a plan lacks, in one sentence (DESIGN 12)."""

from __future__ import annotations

import pytest

from shared.domain.plan.refusals import Refusal, with_others
from shared.domain.plan.sentences import MOST_NAMED

FIRST = "Service a: services is forbidden"


@pytest.mark.parametrize(
    ("others", "want"),
    [
        pytest.param([], FIRST, id="nothing else"),
        pytest.param([Refusal("Service b", "services is forbidden")], FIRST, id="the same right for another object"),
        pytest.param(
            [Refusal("Role a", "roles is forbidden"), Refusal("Role b", "roles is forbidden"), Refusal("Job j", "no")],
            f"{FIRST}; besides: Role a: roles is forbidden; Job j: no",
            id="each right once, in the order of the steps",
        ),
    ],
)
def test_the_sentence(others: list[Refusal], want: str) -> None:
    assert with_others(FIRST, others) == want


def test_only_so_many_are_named_and_not_at_length() -> None:
    reported = with_others(FIRST, [Refusal(f"Role {n}", f"{n} " + "x" * 10_000) for n in range(MOST_NAMED + 3)])
    assert reported.count("Role ") == MOST_NAMED
    assert reported.endswith("; 3 more")
    assert len(reported) < 600 * MOST_NAMED
