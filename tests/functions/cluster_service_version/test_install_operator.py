from typing import Any

import pytest

from shared.api.manifest import Manifest, annotations_of, labels_of, metadata, name_of, resource_version_of, uid_of
from shared.kinds import DEPLOYMENT
from shared.names import UPGRADE_FAILED
from shared.ports import Attempt, WriteFailure
from shared.step import NOTHING, Create, Delete, Emit, Record, Replace, SetStatus
from tests.domain.csv.builders import a_component, a_csv, a_group, a_status, at, phases
from tests.functions.cluster_service_version.world import World, csv_ref

REF = csv_ref("a.v1")
OPERATOR = DEPLOYMENT.ref("operator", "ns")
READY = a_status("InstallReady", "AllRequirementsMet")


def ready(**more: Any) -> Manifest:
    return a_csv(status=READY, **more)


def kinds_of(world: World) -> list[str]:
    return [type(write).__name__ for write in world.step("install").writes]


@pytest.mark.parametrize(
    "csv",
    [
        *(
            pytest.param(a_csv(status=a_status(phase)), id=f"csv.md 4: {phase} belongs to other steps")
            for phase in ("Pending", "Installing", "Succeeded", "Failed", "Replacing", "Deleting")
        ),
        pytest.param(ready(meta={"labels": {"olm.copiedFrom": "x"}}), id="csv.md 3.1-4: a copy"),
        pytest.param(ready(meta={"deletionTimestamp": at()}), id="csv.md 3.1-2: it is being deleted"),
        pytest.param(a_csv("other", status=READY), id="csv.md 3.1-1: it is gone"),
    ],
)
def test_nothing_to_do(csv: Manifest) -> None:
    assert World([csv, a_group()]).step("install") == NOTHING


def test_deployments_come_first_and_the_status_after_them_csv_md_4_3_and_18_row_13() -> None:
    world = World([ready(), a_group()])
    create, status, event = world.step("install").writes
    assert isinstance(create, Create)
    assert name_of(create.manifest) == "operator"
    assert isinstance(status, SetStatus)
    message = "waiting for install components to report healthy"
    assert (status.status["phase"], status.status["reason"], status.status["message"]) == (
        "Installing", "InstallSucceeded", message,
    )  # fmt: skip
    assert event == Record(REF, "Normal", "InstallSucceeded", message)


def test_what_is_there_already_is_not_written_again_csv_md_6_1_2() -> None:
    world = World([ready(), a_group()])
    world.does("install")
    world.objects[REF] = {**world.csv(), "status": READY}
    assert kinds_of(world) == ["SetStatus", "Record"]


def test_an_edited_version_replaces_its_deployment_csv_md_18_row_62() -> None:
    world = World([ready(), a_group()])
    world.does("install")
    edited = {"deployments": [a_component(containers=[{"name": "c", "image": "new"}])]}
    world.objects[REF] = ready(strategy=edited)
    replace = world.step("install").writes[0]
    assert isinstance(replace, Replace)
    assert replace.manifest["spec"]["template"]["spec"]["containers"][0]["image"] == "new"
    assert metadata(replace.manifest)["resourceVersion"] == resource_version_of(world.objects[OPERATOR])


def test_an_unmanaged_deployment_of_the_same_name_is_taken_over_csv_md_6_1_2() -> None:
    stranger = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "operator", "namespace": "ns", "resourceVersion": "4"},
        "spec": {},
    }
    assert kinds_of(World([ready(), a_group(), stranger]))[0] == "Replace"


def test_a_deployment_that_olm_v1_controls_is_left_alone_and_the_version_says_so() -> None:
    owner = {
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterObjectSet", "name": "tide-1", "uid": "r",
        "controller": True,
    }  # fmt: skip
    meta = {"labels": {"olm.operatorframework.io/owner-name": "tide"}, "ownerReferences": [owner]}
    theirs: Manifest = {
        "apiVersion": "apps/v1", "kind": "Deployment", "spec": {},
        "metadata": {"name": "operator", "namespace": "ns", "resourceVersion": "4", **meta},
    }  # fmt: skip
    identity = {key: owner[key] for key in ("apiVersion", "kind")}
    revision = {**identity, "metadata": {"name": "tide-1", "uid": "r"}}
    world = World([ready(), a_group(), revision, theirs])
    writes = world.step("install").writes
    assert not [one for one in writes if isinstance(one, Replace | Create | Delete)]
    status = next(one.status for one in writes if isinstance(one, SetStatus))
    assert (status["phase"], status["reason"]) == ("Failed", "InstallComponentFailed")
    assert status["message"] == (
        "install strategy failed: Deployment operator is controlled by ClusterObjectSet tide-1 of ClusterExtension "
        "tide, and not taken from it"
    )
    del theirs["metadata"]["ownerReferences"][0]["controller"]
    assert kinds_of(World([ready(), a_group(), revision, theirs]))[0] == "Replace"


def test_a_renamed_deployment_leaves_no_orphan_csv_md_18_row_63() -> None:
    world = World([ready(), a_group()])
    world.does("install")
    world.objects[REF] = ready(strategy={"deployments": [a_component("renamed")]})
    create, delete, *_ = world.step("install").writes
    assert isinstance(create, Create)
    assert delete == Delete(OPERATOR, uid_of(world.objects[OPERATOR]), "Foreground")


def test_the_subscription_config_is_applied_csv_md_6_3() -> None:
    subscription = {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "Subscription",
        "metadata": {"name": "s", "namespace": "ns"},
        "spec": {"config": {"nodeSelector": {"a": "b"}, "annotations": {"x": "y"}}},
        "status": {"installedCSV": "a.v1"},
    }
    world = World([ready(), a_group(), subscription])
    world.does("install")
    deployment = world.objects[DEPLOYMENT.ref("operator", "ns")]
    assert deployment["spec"]["template"]["spec"]["nodeSelector"] == {"a": "b"}
    assert annotations_of(deployment) == {"x": "y"}


def test_an_upgrade_takes_the_deployment_over_csv_md_6_7_and_18_row_60() -> None:
    old = a_csv("a.v0", status=READY)
    world = World([old, ready(replaces="a.v0"), a_group()])
    world.does("install", "a.v0")
    world.does("install")
    deployment = world.objects[DEPLOYMENT.ref("operator", "ns")]
    assert labels_of(deployment)["olm.owner"] == "a.v1"
    assert [owner["name"] for owner in metadata(deployment)["ownerReferences"]] == ["a.v1"]


def failed(kind: Any, ref: Any = None) -> Attempt:
    return Attempt(2, WriteFailure(kind, "deployments is forbidden", 0, ref or DEPLOYMENT.ref("operator", "ns")))


@pytest.mark.parametrize(
    ("kind", "reason", "message"),
    [
        pytest.param(
            "forbidden", "InstallComponentFailedNoRetry",
            "install strategy failed: install strategy failed: deployments is forbidden", id="csv.md 4.3-2: forbidden",
        ),
        pytest.param(
            "invalid", "InstallComponentFailed", "install strategy failed: deployments is forbidden",
            id="csv.md 18 row 73: anything else",
        ),
        pytest.param(
            "unanswered", "InstallComponentFailed", "install strategy failed: deployments is forbidden",
            id="csv.md 4.3-2: a webhook that does not answer",
        ),
    ],
)  # fmt: skip
def test_a_refused_deployment_fails_the_version(kind: str, reason: str, message: str) -> None:
    status, event = World([ready(), a_group()]).step("install", attempt=failed(kind)).writes
    assert isinstance(status, SetStatus)
    assert (status.status["phase"], status.status["reason"], status.status["message"]) == ("Failed", reason, message)
    assert event == Record(REF, "Warning", reason, message)


@pytest.mark.parametrize(
    ("replaces", "emits"),
    [
        pytest.param("a.v0", (Emit(UPGRADE_FAILED, REF),), id="DESIGN 4: an upgrade"),
        pytest.param("", (), id="a first installation is no upgrade"),
    ],
)
def test_an_upgrade_that_fails_is_news(replaces: str, emits: tuple[Emit, ...]) -> None:
    world = World([ready(replaces=replaces), a_group()])
    outcome = world.step("install", attempt=failed("forbidden"))
    assert outcome.emits == emits
    (status, *_) = outcome.writes
    assert isinstance(status, SetStatus)
    world.put({**world.csv(), "status": status.status})
    assert UPGRADE_FAILED not in {emit.type for emit in world.step("check").emits}, "it is news only once"


@pytest.mark.parametrize(
    "attempt",
    [
        pytest.param(failed("gone"), id="somebody deleted the Deployment meanwhile"),
        pytest.param(failed("conflict"), id="somebody changed the Deployment meanwhile"),
        pytest.param(failed("invalid", REF), id="it was not the Deployment that was refused"),
    ],
)
def test_other_refusals_make_it_look_again(attempt: Attempt) -> None:
    world = World([ready(), a_group()])
    assert world.step("install", attempt=attempt) == world.step("install")


def test_an_installation_that_a_webhook_holds_up_goes_on_by_itself_csv_md_4_3_2() -> None:
    world = World([a_csv(), a_group()])
    message = 'Internal error occurred: failed calling webhook "a.example.com": no endpoints available'
    world.refused[OPERATOR] = WriteFailure("unanswered", message, 0, OPERATOR)
    world.walk_until_rest()
    assert phases(world.csv())[-1] == ("Failed", "InstallComponentFailed")
    assert world.csv()["status"]["message"] == f"install strategy failed: {message}"
    world.refused.clear()
    world.later(minutes=5)
    world.walk_until_rest()
    assert phases(world.csv())[-1][0] == "Installing"


def test_a_forbidden_installation_ends_without_a_hot_loop_csv_md_18_row_73() -> None:
    world = World([a_csv(), a_group()])
    world.refused[OPERATOR] = WriteFailure("forbidden", "deployments is forbidden", 0, OPERATOR)
    world.walk_until_rest()
    assert phases(world.csv())[-1] == ("Failed", "InstallComponentFailedNoRetry")
    world.refused.clear()
    world.later(minutes=5)
    world.walk_until_rest()
    assert phases(world.csv())[-1][0] == "Installing"


def test_a_strategy_that_nobody_knows_csv_md_4_3_1() -> None:
    status, _ = World([ready(strategy_name="helm"), a_group()]).step("install").writes
    assert isinstance(status, SetStatus)
    message = "install strategy invalid: unrecognized install strategy"
    assert (status.status["reason"], status.status["message"]) == ("InvalidInstallStrategy", message)


def test_install_modes_are_checked_first_csv_md_3_2_6() -> None:
    (status, _) = World([ready(modes=("AllNamespaces",))]).step("install").writes
    assert isinstance(status, SetStatus)
    assert status.status["reason"] == "UnsupportedOperatorGroup"


def test_no_deployment_is_written_without_the_annotations_of_the_group_csv_md_3_2_5() -> None:
    outcome = World([ready(annotations={})]).step("install")
    assert outcome.writes == ()
    assert outcome.wait
    assert outcome.wait.what == "the annotation olm.targetNamespaces"


def test_a_deployment_that_nothing_can_be_called_fails_its_version_with_a_sentence() -> None:
    world = World([ready(strategy={"deployments": [a_component("x/y")]}), a_group()])
    (status, *_) = world.step("install").writes
    assert isinstance(status, SetStatus)
    assert "Deployment 'x/y': 'x/y' is no name of a Deployment" in status.status["message"]
