from datetime import timedelta
from typing import Any

import pytest

from shared.api.manifest import Manifest
from shared.api.views import Csv, InstallPlan, Object
from shared.domain.csv import preparation
from shared.domain.csv.phases import status_of
from shared.domain.csv.requirements import Facts
from shared.domain.csv.transition import Transition
from shared.kinds import CLUSTER_SERVICE_VERSION, OPERATOR_CONDITION, Ref
from tests.domain.csv.builders import NOW, a_crd, a_csv, a_permission, a_status, an_account, at, owned_crd, phases

READY = ("InstallReady", "AllRequirementsMet", "all requirements found, attempting install")
UNMET = ("Pending", "RequirementsNotMet", "one or more requirements couldn't be found")
NO_VERB = a_csv(strategy={"permissions": [a_permission("sa", {"resources": ["r"]})]})
INVALID = "install strategy invalid: rule invalid: policy rule must have at least one verb"


def decided(csv: Manifest, *objects: Manifest, namespace_csvs: tuple[Manifest, ...] = ()) -> Transition:
    known = Facts(Csv.each((csv, *namespace_csvs)), {Ref.of(item): item for item in objects})
    return preparation.decide(Csv(csv), known, status_of(Csv(csv), NOW))


def transition(csv: Manifest, *objects: Manifest, namespace_csvs: tuple[Manifest, ...] = ()) -> tuple[str, str, str]:
    status = decided(csv, *objects, namespace_csvs=namespace_csvs).status
    return status.phase, status.reason, status.message


def owning(name: str = "a.v1", status: Manifest | None = None, **more: Any) -> Manifest:
    return a_csv(name, status=status, customresourcedefinitions=owned_crd(), **more)


def claiming_secrets(status: Manifest) -> Manifest:
    deployment = a_csv()["spec"]["install"]["spec"]["deployments"][0]["name"]
    secrets = {"name": "secrets", "group": "", "version": "v1", "kind": "Secret", "deploymentName": deployment}
    return owning(status=status, apiservicedefinitions={"owned": [secrets]})


def with_status(csv: Manifest, *status: str, **more: Any) -> Manifest:
    return {**csv, "status": a_status(*status, **more)}


def test_all_at_once_tells_both_transitions_csv_md_4_1_and_18_row_2() -> None:
    status = decided(owning(), a_crd()).status
    assert phases({"status": dict(status.manifest)}) == [
        ("Pending", "RequirementsUnknown"),
        ("InstallReady", "AllRequirementsMet"),
    ]
    assert [notice.reason for notice in status.notices] == ["RequirementsUnknown", "AllRequirementsMet"]
    assert [item["status"] for item in status.manifest["requirementStatus"]] == ["Present"]


PENDING = a_status("Pending", "RequirementsUnknown", "requirements not yet checked")
BEFORE = a_csv("a.v0", status=a_status("Replacing"))
UPGRADE = owning(status=PENDING, replaces="a.v0")


@pytest.mark.parametrize(
    ("csv", "objects", "namespace_csvs", "want"),
    [
        pytest.param(owning(status=PENDING), [a_crd()], (), READY, id="csv.md 4.2-10 and 18 row 12"),
        pytest.param(owning(status=PENDING), [], (), UNMET, id="csv.md 4.2-5 and 18 row 6"),
        pytest.param(
            with_status(NO_VERB, "Pending"), [], (), ("Failed", "InvalidInstallStrategy", INVALID),
            id="csv.md 4.2-2 and 18 row 4",
        ),
        pytest.param(
            a_csv(status=PENDING, strategy_name="helm"), [], (),
            ("Failed", "InvalidInstallStrategy", "install strategy invalid: unrecognized install strategy"),
            id="csv.md 4.2-2 and 18 row 5",
        ),
        pytest.param(
            owning(status=PENDING), [a_crd()], (owning("rival"),),
            ("Failed", "OwnerConflict", "conflicting CRD owner in namespace"), id="csv.md 4.2-7 and 18 row 9",
        ),
        pytest.param(
            claiming_secrets(PENDING), [a_crd()], (), ("Failed", "OwnerConflict", "unable to adopt APIService"),
            id="csv.md 8.8: an API of the API server itself",
        ),
        pytest.param(UPGRADE, [a_crd()], (owning("a.v0", a_status("Replacing")),), READY, id="csv.md 4.2-7: its chain"),
        pytest.param(UPGRADE, [a_crd()], (BEFORE,), READY, id="csv.md 4.2-9: the predecessor is Replacing"),
        pytest.param(UPGRADE, [a_crd()], (), READY, id="csv.md 18 row 57: the predecessor is absent"),
        pytest.param(
            UPGRADE, [a_crd()], (a_csv("a.v0", status=a_status("Succeeded")),),
            ("Pending", "RequirementsUnknown", "requirements not yet checked"), id="csv.md 4.2-9: still Succeeded",
        ),
        pytest.param(
            UPGRADE, [a_crd()], (a_csv("a.v0", status=a_status("Failed")),),
            ("Pending", "InstallWaiting", "waiting for a.v0 to be Replacing"),
            id="csv.md 4.2-9 and 19-12: what it waits for is said",
        ),
        pytest.param(
            UPGRADE, [a_crd()],
            (a_csv("a.v0", status=a_status("Succeeded", "Copied"), meta={"labels": {"olm.copiedFrom": "x"}}),),
            ("Pending", "InstallWaiting", "waiting for a.v0 to be Replacing"),
            id="csv.md 2.5 and 19-12: a copy is never Replacing",
        ),
        pytest.param(
            a_csv(status=PENDING, customresourcedefinitions=owned_crd("things")), [], (),
            ("Pending", "RequirementsNotMet", "error parsing crd name: things"), id="csv.md 18 row 32 and 19-12",
        ),
    ],
)  # fmt: skip
def test_pending(
    csv: Manifest, objects: list[Manifest], namespace_csvs: tuple[Manifest, ...], want: tuple[str, str, str]
) -> None:
    assert transition(csv, *objects, namespace_csvs=namespace_csvs) == want


def test_the_wait_names_the_root_of_the_chain_and_the_status_only_the_predecessor() -> None:
    """csv.md 4.2-9: the status does not change with the phases of older versions."""
    root = with_status(owning("a.v0"), *UNMET)
    middle = with_status(owning("a.v1", replaces="a.v0"), "Pending", "InstallWaiting")
    found = decided(owning("a.v2", PENDING, replaces="a.v1"), a_crd(), namespace_csvs=(root, middle))
    assert found.status.message == "waiting for a.v1 to be Replacing"
    assert found.waits_for.startswith("a.v1 to be Replacing: a.v0 is Pending (one or more requirements")


def test_the_wait_for_a_copy_names_where_it_comes_from() -> None:
    copy = owning("a.v0", a_status("Succeeded", "Copied"), meta={"labels": {"olm.copiedFrom": "x"}})
    found = decided(UPGRADE, a_crd(), namespace_csvs=(copy,))
    assert found.waits_for.startswith("a.v0 to be Replacing: a.v0 is a copy of what namespace x installed")


def test_a_conflicting_one_in_another_namespace_or_a_copy_is_none_csv_md_18_row_10() -> None:
    elsewhere = owning("rival", meta={"namespace": "other"})
    copy = owning("copy", meta={"labels": {"olm.copiedFrom": "x"}})
    assert transition(owning(), a_crd(), namespace_csvs=(elsewhere, copy)) == READY


def test_what_is_missing_is_said_and_looked_at_slowly() -> None:
    found = decided(owning(status=PENDING))
    assert found.waits_for == "CustomResourceDefinition things.example.com"
    assert found.again_in == timedelta(minutes=5)
    assert found.status.manifest["requirementStatus"][0]["status"] == "NotPresent"


def test_the_list_is_written_when_only_the_list_changed_csv_md_19_5() -> None:
    csv = a_csv(status={**a_status(*UNMET), "requirementStatus": []}, customresourcedefinitions=owned_crd())
    found = decided(csv).status
    assert found.notices == ()
    assert found.manifest != csv["status"]


@pytest.mark.parametrize(
    ("phase", "enqueues"),
    [("Succeeded", True), ("Failed", True), ("Replacing", False), ("Installing", False)],
    ids=lambda value: f"csv.md 4.2-4: {value}",
)
def test_the_predecessor_learns_that_it_is_being_replaced(phase: str, enqueues: bool) -> None:
    found = decided(UPGRADE, namespace_csvs=(a_csv("a.v0", status=a_status(phase)),))
    assert found.enqueues == ((CLUSTER_SERVICE_VERSION.ref("a.v0", "ns"),) if enqueues else ())


def a_condition(status: str) -> Manifest:
    kind = OPERATOR_CONDITION
    override = {"type": "Upgradeable", "status": status, "message": "held"}
    meta = {"name": "a.v0", "namespace": "ns"}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "spec": {"overrides": [override]}}


def test_an_operator_may_refuse_to_be_replaced_csv_md_4_2_1_and_18_row_66() -> None:
    succeeded = a_csv("a.v0", status=a_status("Succeeded"))
    held = decided(UPGRADE, a_crd(), a_condition("False"), namespace_csvs=(succeeded,))
    message = "operator is not upgradeable: the operator is not upgradeable: held"
    assert (held.status.phase, held.status.reason, held.status.message) == (
        "Pending", "OperatorConditionNotUpgradeable", message,
    )  # fmt: skip
    assert held.enqueues == (CLUSTER_SERVICE_VERSION.ref("a.v0", "ns"),)
    assert transition(UPGRADE, a_crd(), a_condition("True"), namespace_csvs=(BEFORE,)) == READY


MODES = "InstallModes now support target namespaces"


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        *(
            pytest.param(reason, MODES, id=f"csv.md 4.6-3 and 18 row 25: {reason}")
            for reason in (
                "NoTargetNamespaces", "NoOperatorGroup", "TooManyOperatorGroups", "UnsupportedOperatorGroup"
            )
        ),
        pytest.param(
            "InterOperatorGroupOwnerConflict", "OperatorGroup no longer intersecting with conflicting owner",
            id="csv.md 4.6-4 and 18 row 26",
        ),
        pytest.param(
            "CannotModifyStaticOperatorGroupProvidedAPIs",
            "static OperatorGroup and intersecting groups now support providedAPIs", id="csv.md 4.6-5 and 18 row 27",
        ),
        pytest.param("RequirementsNotMet", "requirements not yet checked", id="csv.md 18 row 19: they are met again"),
        pytest.param("InvalidInstallStrategy", "requirements not yet checked", id="csv.md 4.6: strategy edited"),
        pytest.param("InvalidInstallModes", "requirements not yet checked", id="csv.md 18 row 33: modes edited"),
        pytest.param("OwnerConflict", "requirements not yet checked", id="csv.md 4.6: the rival is gone"),
    ],
)  # fmt: skip
def test_a_failure_that_is_over_goes_through_pending(reason: str, message: str) -> None:
    found = decided(owning(status=a_status("Failed", reason)), a_crd()).status
    assert [notice.message for notice in found.notices] == [message, READY[2]]
    assert found.phase == "InstallReady"


@pytest.mark.parametrize("reason", ["ComponentUnhealthy", "InstallCheckFailed", "RequirementsNotMet", "OwnerConflict"])
def test_a_failure_with_a_requirement_missing_is_pending_csv_md_4_6_6_and_18_row_29(reason: str) -> None:
    found = decided(owning(status=a_status("Failed", reason))).status
    assert ("Pending", "RequirementsNotMet") in phases({"status": dict(found.manifest)})
    assert found.notices[0].message == "requirements not met"
    assert found.phase == "Pending"


@pytest.mark.parametrize("reason", ["ComponentUnhealthy", "InstallCheckFailed"])
def test_the_deployments_decide_about_their_failures_csv_md_4_6_10(reason: str) -> None:
    csv = owning(status=a_status("Failed", reason))
    assert decided(csv, a_crd()).status.manifest == csv["status"]


@pytest.mark.parametrize(
    ("csv", "namespace_csvs"),
    [
        pytest.param(
            with_status(NO_VERB, "Failed", "InvalidInstallStrategy", INVALID), (), id="csv.md 18 row 3 and 19-7: a rule"
        ),
        pytest.param(
            owning(status=a_status("Failed", "OwnerConflict", "conflicting CRD owner in namespace")),
            (owning("rival"),), id="csv.md 19-7: a rival",
        ),
        pytest.param(
            claiming_secrets(a_status("Failed", "OwnerConflict", "unable to adopt APIService")), (),
            id="csv.md 19-7: an API of the API server itself",
        ),
    ],
)  # fmt: skip
def test_a_failure_that_only_an_edit_ends_does_not_flap(csv: Manifest, namespace_csvs: tuple[Manifest, ...]) -> None:
    found = decided(csv, a_crd(), namespace_csvs=namespace_csvs)
    assert found.status.manifest == csv["status"]
    assert found.waits_for
    assert found.again_in is None


def failing(times: int, ago: timedelta) -> Manifest:
    entry = a_status("Failed", "InstallComponentFailed", "m", ago=ago)
    return {**entry, "conditions": entry["conditions"] * times}


@pytest.mark.parametrize(
    ("times", "seconds"), [(1, 5), (2, 10), (3, 20), (20, 300)], ids=lambda value: f"issue 3: back-off {value}"
)
def test_a_refused_installation_is_tried_again_after_a_pause_that_doubles(times: int, seconds: int) -> None:
    waiting = decided(owning(status=failing(times, timedelta(seconds=seconds - 1))), a_crd())
    assert waiting.again_in == timedelta(seconds=1)
    assert waiting.status.phase == "Failed"
    due = decided(owning(status=failing(times, timedelta(seconds=seconds))), a_crd()).status
    assert [notice.reason for notice in due.notices] == ["NeedsReinstall", "AllRequirementsMet"]


SUCCEEDED = a_status("Succeeded", "InstallSucceeded")


def test_a_requirement_that_is_lost_csv_md_4_5_5_and_18_row_19() -> None:
    found = decided(owning(status=SUCCEEDED))
    assert transition(owning(status=SUCCEEDED)) == ("Failed", "RequirementsNotMet", "requirements no longer met")
    assert found.status.manifest["requirementStatus"][0]["status"] == "NotPresent"


def test_a_strategy_that_became_invalid_csv_md_4_5_5() -> None:
    assert transition(with_status(NO_VERB, "Succeeded")) == ("Failed", "InvalidInstallStrategy", INVALID)


def test_requirements_that_are_still_met_keep_the_phase_csv_md_4_5() -> None:
    assert transition(owning(status=SUCCEEDED), a_crd()) == ("Succeeded", "InstallSucceeded", "")


def a_plan(phase: str = "Installing", *csvs: str, **status: str) -> Manifest:
    spec = {"clusterServiceVersionNames": list(csvs or ("a.v1",))}
    return {"metadata": {"name": "install-x"}, "spec": spec, "status": {"phase": phase, **status}}


def young(age: timedelta = timedelta(), status: Manifest | None = None) -> Manifest:
    return a_csv(meta={"creationTimestamp": at(age)}, status=status)


@pytest.mark.parametrize(
    ("plans", "waits"),
    [
        pytest.param([], False, id="no plan"),
        pytest.param([a_plan()], True, id="its plan is being carried out"),
        pytest.param([a_plan("Complete")], False, id="its plan is complete"),
        pytest.param([a_plan(message="retrying execution due to error: no")], False, id="its plan is tried again"),
        pytest.param([a_plan("Installing", "other")], False, id="another's plan"),
    ],
)
def test_requirements_are_not_read_while_the_plan_makes_them(plans: list[Manifest], waits: bool) -> None:
    found = preparation.applied_by(Csv(young()), InstallPlan.each(plans), status_of(Csv(young()), NOW))
    assert (found is not None) is waits
    if found:
        assert found.waits_for == "InstallPlan install-x to be carried out"


@pytest.mark.parametrize(
    ("csv", "want"),
    [
        pytest.param(young(), True, id="just made"),
        pytest.param(young(timedelta(minutes=2)), False, id="a plan that takes long does not hide what is missing"),
        pytest.param(young(status=SUCCEEDED), False, id="installed already"),
        pytest.param(a_csv(), False, id="of unknown age"),
    ],
)
def test_is_young(csv: Manifest, want: bool) -> None:
    assert preparation.is_young(Csv(csv), NOW) is want


FORBIDDEN = a_csv(status=a_status("Failed", "InstallComponentFailedNoRetry", "m", ago=timedelta(minutes=1)))


def a_witness(**meta: Any) -> Manifest:
    return {**an_account(), "metadata": meta}


@pytest.mark.parametrize(
    ("witnesses", "phase"),
    [
        pytest.param([], "Failed", id="csv.md 3.2-0: nothing changed"),
        pytest.param([a_witness(creationTimestamp=at(timedelta(minutes=2)))], "Failed", id="csv.md 3.2-0: older"),
        pytest.param([a_witness(creationTimestamp=at())], "Pending", id="csv.md 1.4 and 18 row 74: a new role"),
        pytest.param([a_witness(managedFields=[{"time": at()}])], "Pending", id="csv.md 1.4: a role was edited"),
    ],
)
def test_a_forbidden_installation(witnesses: list[Manifest], phase: str) -> None:
    found = preparation.try_again(Csv(FORBIDDEN), status_of(Csv(FORBIDDEN), NOW), Object.each(witnesses))
    assert found.status.phase == phase
    if phase == "Pending":
        assert (found.status.reason, found.status.message) == (
            "DetectedClusterChange", "Cluster resources changed state",
        )  # fmt: skip
    else:
        assert found.again_in == timedelta(minutes=4)


@pytest.mark.parametrize("before", [0, 1, 2])
def test_a_permission_that_came_as_the_refusal_was_told_is_tried_once(before: int) -> None:
    """Times are whole seconds, and a refusal is told after it happened: else such a right waits for five minutes."""
    given = a_witness(creationTimestamp=at(timedelta(minutes=1, seconds=before)))
    soon = NOW - timedelta(minutes=1) + timedelta(seconds=1)
    found = preparation.try_again(Csv(FORBIDDEN), status_of(Csv(FORBIDDEN), soon), Object.each([given]))
    assert (found.status.phase, found.again_in) == ("Failed", timedelta(seconds=1))
    later = preparation.try_again(
        Csv(FORBIDDEN), status_of(Csv(FORBIDDEN), soon + timedelta(seconds=1)), Object.each([given])
    )
    assert later.status.phase == "Pending"
    again = {**FORBIDDEN, "status": a_status("Failed", "InstallComponentFailedNoRetry", "m", ago=-timedelta(seconds=3))}
    third = preparation.try_again(Csv(again), status_of(Csv(again), NOW + timedelta(seconds=3)), Object.each([given]))
    assert (third.status.phase, third.again_in) == ("Failed", timedelta(minutes=5)), "refused again after that"


@pytest.mark.parametrize(
    ("ahead", "phase"),
    [(timedelta(seconds=30), "Pending"), (-timedelta(seconds=30), "Failed")],
    ids=["ahead", "behind"],
)
def test_it_is_the_clock_of_the_api_server_that_dates_the_refusal(ahead: timedelta, phase: str) -> None:
    """Of a clock that is ahead, a right that was given is not noticed; of one behind, an old one again and again."""
    reported, given = timedelta(minutes=1) + ahead, timedelta(minutes=1) + ahead / 2
    written = [
        {"subresource": "status", "time": at(reported)},
        {"time": at()},
        {"subresource": "status", "time": at(2 * reported)},
    ]
    csv = Csv({**FORBIDDEN, "metadata": {**FORBIDDEN["metadata"], "managedFields": written}})
    found = preparation.try_again(csv, status_of(csv, NOW), Object.each([a_witness(creationTimestamp=at(given))]))
    assert found.status.phase == phase


def test_a_forbidden_installation_is_tried_again_after_a_while_csv_md_19_11() -> None:
    found = preparation.try_again(Csv(FORBIDDEN), status_of(Csv(FORBIDDEN), NOW + timedelta(minutes=5)), [])
    assert found.status.phase == "Pending"
