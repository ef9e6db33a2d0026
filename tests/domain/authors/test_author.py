"""Whose word counts for a plan; most is tried in `tests/functions/install_plan/test_author_bound.py`."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from shared import names
from shared.api.manifest import Manifest
from shared.api.views import InstallPlan, Subscription
from shared.domain.authors.author import Author, author_of, authors_of, planned_for

SINCE = datetime(2026, 1, 1, tzinfo=UTC)


def a_subscription(name: str, created: str = "2026-01-02T00:00:00Z", **annotations: str) -> Subscription:
    meta = {"name": name, "uid": f"uid-{name}", "generation": 1, "annotations": annotations}
    return Subscription({"metadata": meta | ({"creationTimestamp": created} if created else {})})


def a_plan(text: str) -> InstallPlan:
    meta: Manifest = {"name": "p", "namespace": "ns", "annotations": {names.PLANNED_FOR: text}}
    return InstallPlan({"metadata": meta})


ALICE = {names.AUTHOR: "alice", names.AUTHOR_GROUPS: "b\n\na"}


def test_groups_are_one_a_line() -> None:
    assert author_of(a_subscription("one", **ALICE)) == Author("alice", ("a", "b"))
    assert author_of(a_subscription("one", **{names.AUTHOR_GROUPS: "a"})) is None


def test_a_record_has_what_decides_and_not_what_others_write_beside_it() -> None:
    [record] = json.loads(planned_for([a_subscription("one", **ALICE, **{names.VERSION: "1", "x": "y"})]))
    assert record == {
        "name": "one", "uid": "uid-one", "generation": 1, "annotations": {names.VERSION: "1"}, "user": "alice",
        "groups": ["a", "b"],
    }  # fmt: skip


def test_each_author_counts_once_and_a_subscription_without_age_is_not_believed() -> None:
    both = [a_subscription("one", **ALICE), a_subscription("two", **ALICE)]
    assert authors_of(a_plan(planned_for(both)), both, SINCE) == (Author("alice", ("a", "b")),)
    ageless = [a_subscription("one", created="", **ALICE)]
    assert "was created before" in str(authors_of(a_plan(planned_for(ageless)), ageless, SINCE))


def test_a_plan_for_nobody_is_for_nobody() -> None:
    assert "was made for no Subscription" in str(authors_of(a_plan("[]"), [], SINCE))


def test_a_subscription_that_is_gone_or_was_made_again_is_another_one() -> None:
    one = a_subscription("one", **ALICE)
    plan = a_plan(planned_for([one]))
    again = Subscription({**one.raw, "metadata": {**one.metadata, "uid": "new"}})
    for present in ([], [again]):
        assert "Subscription one is not what InstallPlan p was made for" in str(authors_of(plan, present, SINCE))
