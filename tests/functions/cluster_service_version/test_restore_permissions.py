"""Deleted rights that a plan gave come back while their version stays, and only then."""

from __future__ import annotations

import pytest

from functions.cluster_service_version.restore_permissions import restore_permissions
from shared import names
from shared.api.manifest import Manifest
from shared.api.views import Csv
from shared.domain.csv.rbac import objects_for
from shared.domain.objects import plan_record
from shared.kinds import INSTALL_PLAN, OPERATOR_GROUP, Ref
from shared.ports import Attempt
from shared.step import NOTHING, Create, Emit
from tests.domain.csv.builders import MEMBERSHIP, a_component, a_csv, a_permission, a_status
from tests.functions.cluster_service_version.world import csv_ref
from tests.kit.cluster import FakeCluster

REF = csv_ref("a.v1")
STRATEGY = {"deployments": [a_component()], "permissions": [a_permission()], "clusterPermissions": [a_permission()]}
CSV = a_csv(strategy=STRATEGY, status=a_status("Succeeded"))
GRANTED = objects_for(Csv(CSV), REF.namespace)


def a_plan(*made: Manifest, phase: str = "Complete", csv: str = "a.v1") -> Manifest:
    """A plan that made these objects for the version."""
    steps = [
        {"resolving": csv, "resource": {"kind": each["kind"], "name": each["metadata"]["name"]}, "status": "Created"}
        for each in made
    ]
    meta = {"name": "install-a", "namespace": REF.namespace}
    status = {"phase": phase, "plan": steps}
    return {"apiVersion": INSTALL_PLAN.api_version, "kind": "InstallPlan", "metadata": meta, "status": status}


GROUP: Manifest = {
    "apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup", "status": {"namespaces": [REF.namespace]},
    "metadata": {"name": "group", "namespace": REF.namespace},
}  # fmt: skip


def without(index: int) -> FakeCluster:
    return FakeCluster([GROUP, CSV, a_plan(*GRANTED), *(each for at, each in enumerate(GRANTED) if at != index)])


@pytest.mark.parametrize("index", range(len(GRANTED)), ids=[each["kind"] for each in GRANTED])
def test_what_is_gone_is_made_again_and_nothing_else(index: int) -> None:
    assert restore_permissions(REF, without(index), Attempt()).writes == (Create(GRANTED[index]),)


def test_of_a_failed_plan_what_it_did_make_is_made_again() -> None:
    """Another bundle in it may be why it failed."""
    plan = a_plan(*GRANTED, phase="Failed")
    plan["status"]["plan"][-1]["status"] = "Unknown"
    made = restore_permissions(REF, FakeCluster([GROUP, CSV, plan]), Attempt()).writes
    assert [write.manifest for write in made if isinstance(write, Create)] == list(GRANTED[:-1])


def test_nothing_is_written_where_nothing_is_gone() -> None:
    assert restore_permissions(REF, FakeCluster([GROUP, CSV, a_plan(*GRANTED), *GRANTED]), Attempt()).writes == ()


EDITED = a_csv(
    strategy={**STRATEGY, "clusterPermissions": [a_permission("sa", {"verbs": ["*"], "apiGroups": ["*"]})]},
    status=a_status("Succeeded"),
)


@pytest.mark.parametrize(
    ("csv", "plans", "want"),
    [
        pytest.param(CSV, [], [], id="no plan made the version"),
        pytest.param(CSV, [a_plan(*GRANTED, phase="Installing")], [], id="the plan is at work, and makes them itself"),
        pytest.param(CSV, [a_plan(*GRANTED, csv="b.v1")], [], id="the plan made them for another version"),
        pytest.param(
            EDITED, [a_plan(*GRANTED)], ["ServiceAccount", "Role", "RoleBinding"],
            id="somebody wrote more rights into the version than its plan gave",
        ),
    ],
)  # fmt: skip
def test_who_may_write_a_version_gets_no_permissions_by_it(
    csv: Manifest, plans: list[Manifest], want: list[str]
) -> None:
    outcome = restore_permissions(REF, FakeCluster([GROUP, csv, *plans]), Attempt())
    assert [write.manifest["kind"] for write in outcome.writes if isinstance(write, Create)] == want


def recorded(plan: Manifest) -> Manifest:
    """As we write it: with the digest of its content in both places."""
    digest = plan_record.of_plan({}, plan["status"])
    meta = {**plan["metadata"], "annotations": {names.PLAN_CONTENT: digest}}
    status = {**plan["status"], "conditions": [plan_record.condition(digest)]}
    return {**plan, "metadata": meta, "spec": {"approved": True}, "status": status}


def test_who_may_write_the_status_of_a_plan_of_ours_adds_no_permissions_by_it() -> None:
    """Neither with the record in the status as it was, nor with one that fits."""
    ours, forged = recorded(a_plan(*GRANTED)), recorded(a_plan(*objects_for(Csv(EDITED), REF.namespace)))
    for status in (forged["status"], {**forged["status"], "conditions": ours["status"]["conditions"]}):
        assert (
            restore_permissions(REF, FakeCluster([GROUP, EDITED, {**ours, "status": status}]), Attempt()).writes == ()
        )
    waiting = {**ours, "spec": {"approved": False}}
    assert restore_permissions(REF, FakeCluster([GROUP, CSV, waiting]), Attempt()).writes == (), (
        "nobody approved it, whatever its phase says"
    )
    made = restore_permissions(REF, FakeCluster([GROUP, CSV, ours]), Attempt()).writes
    assert [write.manifest for write in made if isinstance(write, Create)] == list(GRANTED)


def test_the_group_looks_whether_it_lacks_a_role() -> None:
    outcome = restore_permissions(REF, FakeCluster([GROUP, CSV, *GRANTED]), Attempt())
    assert outcome.emits == (Emit(names.GRANT_DUE, OPERATOR_GROUP.ref("og", REF.namespace)),)


def test_a_version_in_no_group_enqueues_none() -> None:
    assert restore_permissions(REF, FakeCluster([a_csv(annotations={})]), Attempt()).emits == ()


def test_beside_a_copy_the_group_of_the_original_is_enqueued_csv_md_8_9() -> None:
    copy = a_csv(annotations={**MEMBERSHIP, names.OPERATOR_NAMESPACE: "home"}, strategy=STRATEGY)
    outcome = restore_permissions(REF, FakeCluster([copy]), Attempt())
    assert outcome.writes == ()
    assert outcome.emits == (Emit(names.GRANT_DUE, OPERATOR_GROUP.ref("og", "home")),)


@pytest.mark.parametrize(
    "csv",
    [
        pytest.param(a_csv(status=a_status("Replacing")), id="it is being replaced"),
        pytest.param(a_csv(status=a_status("Deleting")), id="it is on its way out"),
        pytest.param(a_csv(meta={"deletionTimestamp": "x"}), id="it is being deleted"),
    ],
)
def test_a_version_that_goes_takes_its_permissions_along(csv: Manifest) -> None:
    assert restore_permissions(Ref.of(csv), FakeCluster([csv]), Attempt()) == NOTHING


def test_a_version_that_is_gone_gets_nothing() -> None:
    assert restore_permissions(REF, FakeCluster(), Attempt()) == NOTHING


@pytest.mark.parametrize(("group", "home"), [("a/b", "x/y"), (".", "m-ok"), ("a,b", "ns"), ("a", ""), ("", "ns")])
def test_a_group_that_nothing_can_be_called_is_not_enqueued(group: str, home: str) -> None:
    csv = a_csv(strategy=STRATEGY, status=a_status("Succeeded"))
    csv["metadata"]["annotations"] = {names.OPERATOR_GROUP: group, names.OPERATOR_NAMESPACE: home}
    assert restore_permissions(REF, FakeCluster([csv]), Attempt()).emits == ()
