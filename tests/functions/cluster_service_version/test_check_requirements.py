from datetime import timedelta

import pytest

from shared.api.manifest import Manifest, metadata, name_of, namespace_of, resource_version_of, uid_of
from shared.api.views import Csv
from shared.domain.csv.rbac import objects_for
from shared.kinds import Kind
from shared.names import REQUIREMENT_CHANGED
from shared.step import NOTHING, Delete, Emit, Merge, Record, SetStatus
from tests.domain.csv.builders import (
    MEMBERSHIP,
    NOW,
    a_crd,
    a_csv,
    a_group,
    a_permission,
    a_status,
    an_account,
    at,
    owned_crd,
    phases,
)
from tests.functions.cluster_service_version.world import World, csv_ref

REF = csv_ref("a.v1")


@pytest.mark.parametrize(
    "csv",
    [
        *(
            pytest.param(a_csv(status=a_status(phase)), id=f"csv.md 4: {phase} belongs to other steps")
            for phase in ("InstallReady", "Installing", "Replacing", "Deleting")
        ),
        pytest.param(a_csv(meta={"labels": {"olm.copiedFrom": "x"}}), id="csv.md 3.1-4: a copy"),
        pytest.param(a_csv(meta={"deletionTimestamp": "x"}), id="csv.md 3.1-2: it is being deleted"),
        pytest.param(a_csv("other"), id="csv.md 3.1-1: it is gone"),
    ],
)
def test_nothing_to_do(csv: Manifest) -> None:
    assert World([csv, a_group()]).step("check") == NOTHING


def test_of_two_groups_none_is_picked_csv_md_3_3_and_18_row_24() -> None:
    world = World([a_csv(status=a_status("Succeeded")), a_group(), a_group("second")])
    world.does("check")
    assert phases(world.csv())[-1] == ("Failed", "TooManyOperatorGroups")


@pytest.mark.parametrize(
    ("minimum", "phase"),
    [
        pytest.param("1.20.0", "InstallReady", id="csv.md 5.1: the API server is newer"),
        pytest.param("9.0.0", "Pending", id="csv.md 5.1: the API server is older"),
    ],
)
def test_the_version_of_the_api_server_is_asked_for(minimum: str, phase: str) -> None:
    world = World([a_csv(minKubeVersion=minimum), a_group()])
    world.does("check")
    assert phases(world.csv())[-1][0] == phase


@pytest.mark.parametrize("phase", ["InstallReady", "Installing", "Succeeded", "Replacing", "Deleting"])
def test_the_group_is_checked_in_every_phase_csv_md_3_2_and_18_row_24(phase: str) -> None:
    world = World([a_csv(status=a_status(phase))])
    world.does("check")
    assert phases(world.csv())[-1] == ("Failed", "NoOperatorGroup")


def test_a_new_version_joins_its_group_first_and_alone_csv_md_3_1_and_18_row_1() -> None:
    csv = a_csv(annotations={}, meta={"finalizers": []})
    world = World([csv, a_group()])
    outcome = world.step("check")
    patch = {"metadata": {"annotations": MEMBERSHIP, "finalizers": ["operators.coreos.com/csv-cleanup"]}}
    assert outcome.writes == (Merge(REF, patch, resource_version_of(world.csv())),)


def test_annotations_that_somebody_changed_are_put_right_and_the_phase_stays_csv_md_18_row_22() -> None:
    world = World(
        [a_csv(annotations={**MEMBERSHIP, "olm.operatorGroup": "x"}, status=a_status("Succeeded")), a_group()]
    )
    world.does("check")
    assert metadata(world.csv())["annotations"] == MEMBERSHIP
    world.does("check")
    assert phases(world.csv()) == [("Succeeded", "")]


def test_then_it_is_ready_in_one_write_csv_md_4_1_and_4_2() -> None:
    world = World([a_csv(), a_group()])
    outcome = world.step("check")
    status, *events = outcome.writes
    assert isinstance(status, SetStatus)
    assert status.resource_version == resource_version_of(world.csv())
    assert status.status["phase"] == "InstallReady"
    assert phases({"status": status.status}) == [
        ("Pending", "RequirementsUnknown"),
        ("InstallReady", "AllRequirementsMet"),
    ]
    assert events == [
        Record(REF, "Normal", "RequirementsUnknown", "requirements not yet checked"),
        Record(REF, "Normal", "AllRequirementsMet", "all requirements found, attempting install"),
    ]


@pytest.mark.parametrize(
    "csv",
    [
        pytest.param(a_csv(minKubeVersion="99.0.0"), id="csv.md 18 row 48: the version of Kubernetes"),
        pytest.param(a_csv(customresourcedefinitions=owned_crd()), id="csv.md 18 row 48: a definition"),
        pytest.param(
            a_csv(apiservicedefinitions={"required": [{"name": "ks", "group": "g", "version": "v1", "kind": "K"}]}),
            id="csv.md 18 row 48: an aggregated API",
        ),
        pytest.param(
            a_csv(nativeAPIs=[{"group": "g", "version": "v1", "kind": "K"}]), id="csv.md 18 row 48: a native API"
        ),
        pytest.param(
            a_csv(strategy={"deployments": [], "permissions": [a_permission()]}), id="csv.md 18 row 48: a permission"
        ),
    ],
)
def test_what_is_unmet_is_said_and_nothing_is_installed(csv: Manifest) -> None:
    group = a_group()
    group["metadata"]["annotations"] = {"olm.providedAPIs": "Thing.v1.example.com"}
    world = World([csv, group])
    world.walk_until_rest()
    assert phases(world.csv())[-1] == ("Pending", "RequirementsNotMet")
    assert not [ref for ref in world.objects if ref.kind == "Deployment"]
    outcome = world.step("check")
    assert outcome.writes == ()
    assert outcome.wait
    assert outcome.wait.next_try == world.time + timedelta(minutes=5)


def test_events_tell_that_requirements_were_missing_and_are_met_csv_md_18_row_47() -> None:
    world = World([a_csv(nativeAPIs=[{"group": "g", "version": "v1", "kind": "K"}]), a_group()])
    world.does("check")
    world = World(world.objects.values(), kinds=[Kind("g/v1", "K", "ks")])
    world.does("check")
    assert [event.reason for event in world.events] == ["AllRequirementsMet"]
    assert phases(world.csv()) == [
        ("Pending", "RequirementsUnknown"),
        ("Pending", "RequirementsNotMet"),
        ("InstallReady", "AllRequirementsMet"),
    ]


STRATEGY = {"deployments": [], "permissions": [a_permission()], "clusterPermissions": [a_permission()]}


def test_the_roles_of_its_plan_suffice_csv_md_5_6() -> None:
    csv = a_csv(strategy=STRATEGY)
    world = World([csv, a_group(), *objects_for(Csv(csv), "ns")])
    world.does("check")
    assert phases(world.csv())[-1] == ("InstallReady", "AllRequirementsMet")
    assert world.reads == 9  # version, groups, plans, neighbours, account, and four lists of roles


def test_roles_of_anybody_count_when_its_own_do_not_suffice_csv_md_18_row_44() -> None:
    csv = a_csv(strategy=STRATEGY)
    foreign = [{**item, "metadata": {**metadata(item), "labels": {}}} for item in objects_for(Csv(csv), "ns")]
    world = World([csv, a_group(), *foreign])
    world.does("check")
    assert phases(world.csv())[-1] == ("InstallReady", "AllRequirementsMet")


def test_a_role_that_two_versions_own_counts_for_both_csv_md_18_row_45() -> None:
    csv = a_csv(strategy=STRATEGY)
    uids = {"other": "another-uid", name_of(csv): uid_of(csv)}
    owners = [
        {"apiVersion": csv["apiVersion"], "kind": csv["kind"], "name": name, "uid": uid} for name, uid in uids.items()
    ]
    shared = [
        {**item, "metadata": {**metadata(item), "ownerReferences": owners if namespace_of(item) else []}}
        for item in objects_for(Csv(csv), "ns")
    ]
    world = World([csv, a_group(), *shared])
    world.does("check")
    assert phases(world.csv())[-1] == ("InstallReady", "AllRequirementsMet")


def test_no_roles_are_read_while_the_account_is_missing() -> None:
    world = World([a_csv(strategy=STRATEGY), a_group()])
    world.does("check")
    assert world.reads == 5
    assert phases(world.csv())[-1] == ("Pending", "RequirementsNotMet")


def test_little_is_read_while_the_plan_makes_what_is_required() -> None:
    plan = {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "InstallPlan",
        "metadata": {"name": "install-x", "namespace": "ns"},
        "spec": {"clusterServiceVersionNames": ["a.v1"]},
        "status": {"phase": "Installing"},
    }
    began = timedelta(seconds=20)
    world = World([a_csv(strategy=STRATEGY, meta={"creationTimestamp": at(began)}), a_group(), plan])
    outcome = world.step("check")
    assert (outcome.writes, world.reads) == ((), 3)
    assert outcome.wait
    assert (outcome.wait.what, outcome.wait.since) == ("InstallPlan install-x to be carried out", NOW - began)


CONFLICT = ("Failed", "InterOperatorGroupOwnerConflict", "intersecting operatorgroups provide the same apis")


def test_deployments_go_when_another_group_owns_the_apis_csv_md_9_2() -> None:
    conflicting = a_group("rival", targets=("ns",))
    conflicting["metadata"] |= {"namespace": "other", "annotations": {"olm.providedAPIs": "Thing.v1.example.com"}}
    world = World([a_csv(status=a_status("Succeeded")), a_group(), a_crd()])
    world.walk_until_rest()
    deployment = next(ref for ref in world.objects if ref.kind == "Deployment")
    present = world.objects[deployment]
    stranger = {**present, "metadata": {"name": "stranger", "namespace": "ns"}}
    owner = a_csv(customresourcedefinitions=owned_crd(), status=a_status("Succeeded"))
    world = World([owner, a_group(), conflicting, present, stranger])
    outcome = world.does("check")
    assert Delete(deployment, metadata(present)["uid"]) in outcome.writes
    assert [ref.name for ref in world.objects if ref.kind == "Deployment"] == ["stranger"]
    status = world.csv()["status"]
    assert (status["phase"], status["reason"], status["message"]) == CONFLICT
    assert world.step("check").writes == ()

    going = {**present, "metadata": {**metadata(present), "deletionTimestamp": at()}}
    world = World([owner, a_group(), conflicting, going])
    assert not [write for write in world.does("check").writes if isinstance(write, Delete)], "it is going already"


def test_the_predecessor_is_enqueued_csv_md_4_2_4() -> None:
    world = World([a_csv("a.v0", status=a_status("Succeeded")), a_csv(replaces="a.v0"), a_group()])
    outcome = world.step("check")
    assert outcome.emits == (Emit(REQUIREMENT_CHANGED, csv_ref("a.v0")),)


def test_a_forbidden_installation_waits_for_permissions_csv_md_3_2_0() -> None:
    csv = a_csv(status=a_status("Failed", "InstallComponentFailedNoRetry", "no", ago=timedelta(minutes=1)))
    world = World([csv])  # not even the group is looked at
    assert world.step("check").writes == ()
    account = an_account()
    account["metadata"]["creationTimestamp"] = at()
    world = World([csv, account, a_group()])
    world.does("check")
    assert phases(world.csv())[-1] == ("Pending", "DetectedClusterChange")


def test_a_lost_requirement_is_reported_and_its_return_heals_csv_md_18_row_19() -> None:
    owner = a_csv(customresourcedefinitions=owned_crd())
    group = a_group()
    group["metadata"]["annotations"] = {"olm.providedAPIs": "Thing.v1.example.com"}
    world = World([owner, group, a_crd()])
    world.walk_until_rest()
    world.available()
    world.walk_until_rest()
    crd = next(ref for ref in world.objects if ref.kind == "CustomResourceDefinition")
    kept = world.objects.pop(crd)
    world.walk_until_rest()
    assert phases(world.csv())[-2:] == [("Failed", "RequirementsNotMet"), ("Pending", "RequirementsNotMet")]
    world.objects[crd] = kept
    world.walk_until_rest()
    assert phases(world.csv())[-1] == ("Succeeded", "InstallSucceeded")


def test_a_definition_that_gets_the_wanted_version_lets_the_upgrade_go_on_csv_md_18_row_64() -> None:
    group = a_group()
    group["metadata"]["annotations"] = {"olm.providedAPIs": "Thing.v2.example.com"}
    world = World([a_csv(customresourcedefinitions=owned_crd(version="v2")), group, a_crd()])
    world.does("check")
    assert phases(world.csv())[-1] == ("Pending", "RequirementsNotMet")
    crd = a_crd()
    crd["spec"]["versions"].append({"name": "v2", "served": True})
    world.put(crd)
    world.does("check")
    assert phases(world.csv())[-1] == ("InstallReady", "AllRequirementsMet")


def test_fail_forward_replaces_a_failed_version_csv_md_4_6_1() -> None:
    failed = a_csv(status=a_status("Failed", "ComponentUnhealthy"))
    world = World([failed, a_csv("a.v2", replaces="a.v1"), a_group(upgradeStrategy="TechPreviewUnsafeFailForward")])
    world.does("check")
    assert phases(world.csv())[-1] == ("Replacing", "BeingReplaced")
