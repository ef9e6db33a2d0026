from __future__ import annotations

from typing import Any

import pytest

from functions.operator_group.update_provided_apis import update_provided_apis
from shared import names
from shared.kinds import CLUSTER_SERVICE_VERSION, NAMESPACE, OPERATOR_GROUP
from shared.step import Emit, Merge, Outcome
from tests.functions.operator_group.builders import a_csv, a_group
from tests.kit.cluster import FakeCluster

GROUP = OPERATOR_GROUP.ref("g", "ns")
CSV = CLUSTER_SERVICE_VERSION.ref("op.v1", "ns")
GOOSE_CRD = "geese.birds.com/v1/Goose"
GOOSE = "Goose.v1.birds.com"
ENQUEUED = Emit(names.REQUIREMENT_CHANGED, CSV)
GRANT_DUE = Emit(names.GRANT_DUE, GROUP)


def run(*objects: dict[str, Any]) -> Outcome:
    return update_provided_apis(NAMESPACE.ref("ns"), FakeCluster(objects))


def provides(text: str) -> Merge:
    return Merge(GROUP, {"metadata": {"annotations": {"olm.providedAPIs": text}}}, "7")


def annotated(**annotations: str) -> Merge:
    return Merge(CSV, {"metadata": {"annotations": {f"olm.{key}": value for key, value in annotations.items()}}})


@pytest.mark.parametrize(
    ("annotations", "changed"),
    [
        pytest.param(
            {},
            {"operatorNamespace": "ns", "operatorGroup": "g", "targetNamespaces": "a,b"},
            id="csv.md 8.3 step 5: all three are missing",
        ),
        pytest.param(
            {"olm.operatorNamespace": "ns", "olm.operatorGroup": "g", "olm.targetNamespaces": "a"},
            {"targetNamespaces": "a,b"},
            id="csv.md 8.3 step 5: the targets differ",
        ),
    ],
)
def test_members_are_annotated(annotations: dict[str, str], changed: dict[str, str]) -> None:
    """csv.md 18.5 row 115."""
    outcome = run(a_group(targets=["b", "a"]), a_csv(annotations=annotations, phase="Pending"))

    assert outcome.writes == (annotated(**changed),)
    assert ENQUEUED in outcome.emits


def test_a_group_that_selects_nothing_any_more_is_no_group_of_all_namespaces() -> None:
    """csv.md 3.3, 18.1 row 30: only the name of the group is written, and members hear that they must stop."""
    group = a_group(targets=["a"], selector={"matchLabels": {"a": "b"}})
    member = a_csv(member_of=group)

    outcome = run({**group, "status": {}}, member)

    assert (outcome.writes, outcome.emits[:1]) == ((), (ENQUEUED,))


def test_an_annotated_member_costs_no_write() -> None:
    group = a_group(targets=[""], provided=GOOSE)

    outcome = run(group, a_csv(member_of=group, owns=[GOOSE_CRD], phase="Pending"))

    assert (outcome.writes, outcome.emits) == ((), ())


def test_copies_are_no_members() -> None:
    copy = a_csv(labels={names.COPIED_FROM: "elsewhere"}, owns=[GOOSE_CRD])

    assert run(a_group(targets=[""]), copy).writes == ()


def test_an_api_is_announced_and_the_member_enqueued() -> None:
    """csv.md 9.2: AddAPIs."""
    group = a_group(targets=[""])

    outcome = run(group, a_csv(member_of=group, owns=[GOOSE_CRD], phase=""))

    assert outcome.writes == (provides(GOOSE),)
    assert outcome.emits == (ENQUEUED,)


def test_an_installed_version_that_was_edited_to_own_another_version_of_its_api_is_enqueued() -> None:
    """csv.md 4.5-5, 5.2-3: whether that version is served is looked at."""
    group = a_group(targets=[""], provided=GOOSE)

    outcome = run(group, a_csv(member_of=group, owns=["geese.birds.com/v2/Goose"]))

    assert outcome.writes == (provides("Goose.v2.birds.com"),)
    assert ENQUEUED in outcome.emits


def test_a_member_that_cannot_watch_the_targets_announces_nothing() -> None:
    """csv.md 3.2: install modes are checked before provided APIs; csv.md 18.5 row 118."""
    group = a_group(targets=[""])

    outcome = run(group, a_csv(member_of=group, owns=[GOOSE_CRD], modes=[], reason="UnsupportedOperatorGroup"))

    assert outcome.writes == ()
    assert ENQUEUED in outcome.emits


def test_what_nobody_owns_any_more_is_pruned_and_conflicting_ones_are_enqueued() -> None:
    """csv.md 8.3 step 9, 9.3, 18.5 row 125: after the first provider is deleted the second may go on."""
    conflicting = a_group("rival", "other", targets=[""])
    stranger = a_group("stranger", "far", targets=["far"])

    outcome = run(a_group(targets=["a"], provided=GOOSE), conflicting, stranger)

    assert outcome.writes == (provides(""),)
    assert outcome.emits == (Emit(names.GROUP_CONFLICT_CHANGED, OPERATOR_GROUP.ref("rival", "other")), GRANT_DUE)


def test_a_static_annotation_is_never_written() -> None:
    """csv.md 18.5 row 117."""
    group = a_group(targets=["a"], provided="Cow.v1.m.com", staticProvidedAPIs=True)

    assert run(group, a_csv(member_of=group, owns=[GOOSE_CRD])).writes == ()


def test_a_group_that_grew_into_an_older_one_withdraws() -> None:
    """csv.md 9.2: RemoveAPIs; the older group keeps the API."""
    group = a_group(targets=["a"], provided=GOOSE, created="2025-02-01T00:00:00Z")
    elder = a_group("elder", "other", targets=["a"], provided=GOOSE)

    outcome = run(group, elder, a_csv(member_of=group, owns=[GOOSE_CRD], phase="Pending"))

    assert outcome.writes == (provides(""),)
    assert outcome.emits == (
        Emit(names.GROUP_CONFLICT_CHANGED, OPERATOR_GROUP.ref("elder", "other")),
        ENQUEUED,
        GRANT_DUE,
    )


def test_an_installed_version_hears_that_its_group_withdrew() -> None:
    """csv.md 18.5 row 126: what is installed fails when a static group claims its API; its neighbours go on."""
    group = a_group(targets=["a"], provided=f"Cow.v1.m.com,{GOOSE}")
    static = a_group("static", "other", targets=["a"], provided=GOOSE, staticProvidedAPIs=True)
    sibling = a_csv("cow.v1", member_of=group, owns=["cows.m.com/v1/Cow"])

    outcome = run(group, static, a_csv(member_of=group, owns=[GOOSE_CRD]), sibling)

    assert outcome.writes == (provides("Cow.v1.m.com"),)
    assert [emit for emit in outcome.emits if emit.type == names.REQUIREMENT_CHANGED] == [ENQUEUED]


def test_a_group_that_claims_an_api_enqueues_those_that_must_give_it_up() -> None:
    """csv.md 8.3 step 8, 18.5 row 126; a group of higher rank, or elsewhere, is not enqueued."""
    group = a_group(targets=["a"], provided=GOOSE, staticProvidedAPIs=True)
    younger = a_group("younger", "other", targets=["a"], provided=GOOSE)
    elsewhere = a_group("elsewhere", "far", targets=["b"], provided=GOOSE)
    elder = a_group(
        "elder", "old", targets=["a"], provided=GOOSE, staticProvidedAPIs=True, created="2024-01-01T00:00:00Z"
    )

    outcome = run(group, younger, elsewhere, elder)

    assert outcome.writes == ()
    assert outcome.emits == (Emit(names.GROUP_CONFLICT_CHANGED, OPERATOR_GROUP.ref("younger", "other")), GRANT_DUE)


def test_a_loser_is_enqueued_again() -> None:
    """csv.md 8.3 step 8: this is how versions in conflicting groups get to recover."""
    group = a_group(targets=["a"])
    winner = a_group("winner", "other", targets=["a"], provided=GOOSE)
    loser = a_csv(member_of=group, owns=[GOOSE_CRD], phase="Failed", reason="InterOperatorGroupOwnerConflict")

    outcome = run(group, winner, loser)

    assert (outcome.writes, outcome.emits) == ((), (ENQUEUED, GRANT_DUE))


@pytest.mark.parametrize(
    ("groups", "reason", "emits"),
    [
        pytest.param([], "", (ENQUEUED,), id="csv.md 18.5 row 133: no group, and it does not know"),
        pytest.param([], "NoOperatorGroup", (), id="csv.md 3.3: no group, and it knows"),
        pytest.param([a_group(), a_group("h")], "", (ENQUEUED,), id="csv.md 3.3: two groups, and it does not know"),
        pytest.param([a_group(), a_group("h")], "TooManyOperatorGroups", (), id="csv.md 3.3: two groups, and it knows"),
    ],
)
def test_without_one_group_nobody_is_annotated(
    groups: list[dict[str, Any]], reason: str, emits: tuple[Emit, ...]
) -> None:
    outcome = run(*groups, a_csv(reason=reason))

    assert (outcome.writes, outcome.emits) == ((), emits)


@pytest.mark.parametrize(
    ("csv", "is_due"),
    [
        pytest.param({"phase": "Succeeded"}, True, id="csv.md 8.8: a healthy member"),
        pytest.param(
            {"phase": "InstallReady", "install": {"permissions": [{}]}},
            True,
            id="csv.md 8.9: a member that needs its rights in other namespaces",
        ),
        pytest.param({"phase": "InstallReady"}, False, id="csv.md 8.9: a member that asks for none"),
        pytest.param({"phase": "Pending", "install": {"permissions": [{}]}}, False, id="csv.md 8.9: not yet"),
        pytest.param({"deleted": True}, False, id="csv.md 3.1-2: its cluster roles were deleted, and stay so"),
    ],
)
def test_roles_are_due_when_members_need_them(csv: dict[str, Any], is_due: bool) -> None:
    group = a_group(targets=[""])

    outcome = run(group, a_csv(member_of=group, **csv))

    assert (GRANT_DUE in outcome.emits) is is_due


def test_roles_are_due_when_a_member_owns_an_api_that_is_not_announced() -> None:
    """csv.md 8.3 steps 6 and 7: the roles of the group aggregate it, whether the version is refused or not."""
    group = a_group(targets=["a"], provided="Cow.v1.m.com", staticProvidedAPIs=True)

    outcome = run(group, a_csv(member_of=group, owns=[GOOSE_CRD], phase="Failed"))

    assert outcome.writes == ()
    assert GRANT_DUE in outcome.emits


@pytest.mark.parametrize(
    ("strategy", "enqueues"),
    [
        pytest.param("TechPreviewUnsafeFailForward", True, id="csv.md 4.6-1, 8.10: its successor may replace it now"),
        pytest.param("Default", False, id="csv.md 4.6-1: nothing changes for it"),
    ],
)
def test_a_group_that_begins_to_fail_forward_enqueues_failed_versions(strategy: str, enqueues: bool) -> None:
    group = a_group(targets=["ns"], provided="", upgradeStrategy=strategy)
    failed = a_csv(member_of=group, phase="Failed", reason="InstallComponentFailed")
    newer = a_csv("op.v2", member_of=group, phase="Pending", reason="InstallWaiting")
    newer["spec"]["replaces"] = "op.v1"
    outcome = run(group, failed, newer)

    assert outcome.writes == ()
    assert [emit for emit in outcome.emits if emit.type == names.REQUIREMENT_CHANGED] == (
        [ENQUEUED] if enqueues else []
    )
