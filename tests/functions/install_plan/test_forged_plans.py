"""Plans that others made or changed are never executed, whoever wrote what, and keep nobody from a plan of ours."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy

import pytest

from eventing.events.job import Job
from shared import kinds, names
from shared.api.manifest import Manifest, ReadOnly, annotations_of, metadata, name_of, uid_of
from shared.api.views import InstallPlan
from shared.domain.objects import plan_record
from shared.kinds import Ref
from shared.ports import Policy
from tests.functions.subscription.test_install import IMAGE, a_world, installed, status, the
from tests.functions.subscription.world import (
    World,
    a_bundle,
    a_package,
    a_payload,
    a_subscription,
    an_operator_group,
)

pytestmark = pytest.mark.unmeasured

MANUAL = a_subscription(installPlanApproval="Manual")
CSV = kinds.CLUSTER_SERVICE_VERSION.ref("etcd.v1.0.0", "ns")


def begun() -> World:
    """The world while the bundle is unpacked: somebody else may write a plan first."""
    return a_world(MANUAL)


def ended(world: World) -> World:
    for _ in range(3):
        world.finish_jobs()
        world.settle()
    return world


def ours() -> Manifest:
    """The plan that we are going to write, as whoever knows this program can predict it."""
    [plan] = the(installed(MANUAL), kinds.INSTALL_PLAN)
    meta = {key: metadata(plan)[key] for key in ("name", "namespace", "labels", "annotations", "ownerReferences")}
    return {**plan, "metadata": meta}


def without_status(plan: Manifest, **spec: object) -> Manifest:
    return {key: value for key, value in plan.items() if key != "status"} | {"spec": {**plan["spec"], **spec}}


def the_plan(world: World) -> Manifest:
    """The plan for which the Subscription waits."""
    return world.objects[kinds.INSTALL_PLAN.ref(status(world)["installPlanRef"]["name"], "ns")]


def reported(plan: ReadOnly) -> str:
    [condition] = [one for one in plan["status"]["conditions"] if one["type"] == "Installed"]
    return str(condition["reason"])


def with_finalizer(plan: Manifest) -> Manifest:
    return {**plan, "metadata": {**plan["metadata"], "finalizers": ["a.tenant/keeps-it"]}}


@pytest.mark.measured
@pytest.mark.parametrize(
    "forge",
    [
        pytest.param(
            lambda plan: {
                **without_status(plan, approved=True),
                "metadata": {**plan["metadata"], "name": "forged"},
            },
            id="another name, approved",
        ),
        pytest.param(lambda plan: without_status(plan, approved=True), id="the very name of ours, approved"),
        pytest.param(
            lambda plan: without_status(plan, clusterServiceVersionNames=["other.v1"]), id="our name, another version"
        ),
        pytest.param(lambda plan: with_finalizer(without_status(plan)), id="our name and content, with a finalizer"),
        pytest.param(
            lambda plan: without_status(plan, generation=2**53), id="our name, a generation beyond which none counts"
        ),
        pytest.param(
            lambda plan: without_status(plan, generation=2**63 - 1),
            id="our name, the greatest generation that a server stores",
        ),
        pytest.param(lambda plan: without_status(plan, generation="x"), id="our name, a generation that is no number"),
        pytest.param(lambda plan: {**without_status(plan), "spec": None}, id="our name, nothing else"),
    ],
)
def test_a_plan_that_came_before_ours_is_neither_executed_nor_in_the_way(forge: Callable[[Manifest], Manifest]) -> None:
    world, forged = begun(), forge(ours())
    world.put(forged)
    ended(world)
    found = the_plan(world)
    assert (name_of(found) != name_of(forged), found["spec"]["approved"]) == (True, False)
    assert (found["status"]["phase"], found["spec"]["generation"] in (1, 2)) == ("RequiresApproval", True)
    assert "status" not in world.objects[Ref.of(forged)]
    assert CSV not in world.objects


def test_a_plan_that_is_exactly_ours_is_finished_whoever_wrote_it() -> None:
    """So that a run that was killed between its two writes leaves no plan behind."""
    world = begun()
    world.put(without_status(ours()))
    ended(world)
    [plan] = the(world, kinds.INSTALL_PLAN)
    assert (plan["status"]["phase"], plan["spec"]["approved"]) == ("RequiresApproval", False)
    assert plan_record.is_intact(InstallPlan(plan))


def test_a_plan_of_ours_that_an_admission_webhook_labelled_is_finished_too() -> None:
    """Else each try of a run that fails before its second write would leave one more plan."""
    world, plan = begun(), without_status(ours())
    meta = plan["metadata"]
    more = {"labels": {**meta["labels"], "a.mesh/seen": "1"}, "annotations": {**meta["annotations"], "a.mesh/by": "it"}}
    world.put({**plan, "metadata": {**meta, **more}})
    ended(world)
    assert [name_of(one) for one in the(world, kinds.INSTALL_PLAN)] == [name_of(plan)]
    assert the_plan(world)["status"]["phase"] == "RequiresApproval"


@pytest.mark.parametrize("approved", [False, True])
def test_a_plan_of_ours_whose_subscription_does_not_know_it_yet_is_kept(approved: bool) -> None:
    """A run was killed between its second and its third write; it may have been approved since."""
    world, plan = begun(), ours()
    world.put({**plan, "spec": {**plan["spec"], "approved": approved}})
    ended(world)
    assert [name_of(one) for one in the(world, kinds.INSTALL_PLAN)] == [name_of(plan)]
    assert the_plan(world)["status"]["phase"] == ("Complete" if approved else "RequiresApproval")


@pytest.mark.measured
@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"deletionTimestamp": "2026-01-01T00:00:00Z"}, id="it is being deleted"),
        pytest.param({"annotations": {names.PLAN_CONTENT: "sha256:0"}}, id="its annotation is not its content"),
    ],
)
def test_a_plan_of_our_name_that_cannot_be_carried_out_is_passed_over(more: Manifest) -> None:
    world, plan = begun(), ours()
    world.put({**plan, "metadata": {**plan["metadata"], **more}})
    ended(world)
    assert name_of(the_plan(world)) != name_of(plan)


def test_approval_counts_once_the_content_is_recorded() -> None:
    world = installed(MANUAL)
    [plan] = the(world, kinds.INSTALL_PLAN)
    manager = {"manager": "kubectl-patch", "operation": "Update", "time": "2026-01-01T00:00:00Z",
               "fieldsV1": {"f:spec": {"f:approved": {}}}}  # fmt: skip
    approved = {**plan, "spec": {**plan["spec"], "approved": True}}
    world.put({**approved, "metadata": {**metadata(plan), "managedFields": [manager]}})
    world.settle()
    plan = world.objects[Ref.of(plan)]
    assert plan["status"]["phase"] == "Complete"
    [condition] = [one for one in plan["status"]["conditions"] if one["type"] == "Approved"]
    digest = annotations_of(plan)[names.PLAN_CONTENT]
    assert condition["message"] == (
        f"spec.approved was set by kubectl-patch (Update) at 2026-01-01T00:00:00Z, for {digest}"
    )


def edited_spec(plan: Manifest) -> None:
    plan["spec"] |= {"approved": True, "clusterServiceVersionNames": ["other.v1"]}


def edited_approval(plan: Manifest) -> None:
    plan["spec"] |= {"approved": True, "approval": "Automatic"}


def edited_spec_and_annotation(plan: Manifest) -> None:
    edited_spec(plan)
    plan["metadata"]["annotations"] = {names.PLAN_CONTENT: plan_record.of_plan(plan["spec"], plan["status"])}


def edited_steps(plan: Manifest) -> None:
    plan["status"]["plan"][0]["resource"]["manifest"] = '{"apiVersion":"v1","kind":"ConfigMap"}'


def edited_steps_and_record(plan: Manifest) -> None:
    edited_steps(plan)
    plan["status"]["conditions"] = [plan_record.condition(plan_record.of_plan(plan["spec"], plan["status"]))]


def edited_bundles(plan: Manifest) -> None:
    plan["status"]["bundleLookups"][0]["path"] = "registry/evil:v1"


def without_record(plan: Manifest) -> None:
    plan["status"]["conditions"] = []


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(edited_spec, id="its versions, by who may approve it"),
        pytest.param(edited_approval, id="its approval, by who may approve it"),
        pytest.param(edited_spec_and_annotation, id="its versions and the annotation"),
        pytest.param(edited_steps, id="its steps, by who may write its status"),
        pytest.param(edited_steps_and_record, id="its steps and their record"),
        pytest.param(edited_bundles, id="its bundles"),
        pytest.param(without_record, id="its record"),
    ],
)
def test_a_plan_that_was_changed_is_refused_and_made_again(edit: object) -> None:
    world = installed(MANUAL)
    [plan] = the(world, kinds.INSTALL_PLAN)
    changed = deepcopy(plan)
    changed["spec"]["approved"] = True
    edit(changed)  # type: ignore[operator]  # why: a parameter
    world.put(changed)
    ended(world)
    refused, again = world.objects[Ref.of(plan)], the_plan(world)
    assert (reported(refused), refused["status"]["phase"]) == ("ContentChanged", "RequiresApproval")
    assert [event.reason for event in world.events if event.ref == Ref.of(plan)] == ["PlanRefused"]
    assert refused["status"]["message"] == (
        f"InstallPlan {name_of(plan)} was changed after olm-functions wrote it, so that no approval holds for it: "
        "nothing of it is executed. A Subscription whose ClusterServiceVersion does not exist yet gets a new plan. "
        f"Delete this one: kubectl delete installplan {name_of(plan)} -n ns. If a ClusterServiceVersion of it exists "
        "and lacks something then, delete that and its Subscription, too, and create the Subscription again"
    )
    assert (uid_of(again) != uid_of(refused), again["spec"]["approved"]) == (True, False)
    assert CSV not in world.objects
    world.requests.clear()
    world.receive(names.UPDATED, Ref.of(plan))
    world.settle()
    assert world.requests["write"] == 0, "a refusal is said once"


def test_a_plan_that_goes_on_without_approval_does_not() -> None:
    """Who may write only the status cannot approve."""
    world = installed(MANUAL)
    [plan] = the(world, kinds.INSTALL_PLAN)
    world.put({**plan, "status": {**plan["status"], "phase": "Installing"}})
    ended(world)
    assert CSV not in world.objects
    assert "waits for approval" in the_plan(world)["status"]["message"]


@pytest.mark.parametrize("phase", ["RequiresApproval", "Installing", "Planning", ""])
def test_a_plan_of_olm_that_waited_is_replaced_by_ours(phase: str) -> None:
    """With `olmf up --take-over`: nobody knows any more what was approved. OLM may leave it in any of these phases."""
    world = installed(MANUAL)
    [plan] = the(world, kinds.INSTALL_PLAN)
    meta = {key: value for key, value in metadata(plan).items() if key != "annotations"}
    of_olm = {key: value for key, value in plan["status"].items() if key not in ("conditions", "phase")}
    of_olm |= {"phase": phase} if phase else {}
    world.put({**plan, "metadata": meta, "status": of_olm, "spec": {**plan["spec"], "approved": True}})
    ended(world)
    refused, again = world.objects[Ref.of(plan)], the_plan(world)
    assert reported(refused) == "NotPlannedHere"
    assert (name_of(again) != name_of(refused), again["status"]["phase"]) == (True, "RequiresApproval")


@pytest.mark.measured
@pytest.mark.parametrize(
    ("annotations", "reason"),
    [
        pytest.param({}, "NotPlannedHere", id="made by hand"),
        pytest.param({names.PLAN_CONTENT: "sha256:0"}, "ContentChanged", id="copied from one of ours"),
    ],
)
def test_a_plan_without_steps_is_reported_once_its_maker_had_time_for_them(
    annotations: dict[str, str], reason: str
) -> None:
    world, kind = a_world(), kinds.INSTALL_PLAN
    ref = kind.ref("by-hand", "ns")
    meta = {"name": ref.name, "namespace": ref.namespace, "annotations": annotations}
    spec = {"clusterServiceVersionNames": ["etcd.v1.0.0"], "approval": "Automatic", "approved": True}
    world.put({"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "spec": spec})
    world.settle()
    assert "status" not in world.objects[ref], "OLM and we write the steps after the plan"
    world.later(seconds=61)
    found = world.objects[ref]["status"]
    assert (reported(world.objects[ref]), found["phase"], found["catalogSources"]) == (reason, "", [])
    assert found["message"].startswith("InstallPlan by-hand was ")
    assert [event.reason for event in world.events if event.ref == ref] == ["PlanRefused"]
    world.requests.clear()
    world.receive(names.UPDATED, ref)
    world.settle()
    assert (world.requests["write"], ref in {job.ref for job in world.delayed}) == (0, False), "it is told once"


@pytest.mark.parametrize(
    ("annotations", "steps"),
    [
        pytest.param({}, ["Created"], id="made by hand"),
        pytest.param({names.PLAN_CONTENT: "sha256:0"}, ["Unknown"], id="changed after we wrote it"),
    ],
)
def test_where_the_administrator_trusts_others_plans_made_by_hand_are_executed(
    annotations: dict[str, str], steps: list[str]
) -> None:
    """As OLM does; not one that says that we wrote it, because nobody knows what was approved."""
    ref = kinds.INSTALL_PLAN.ref("by-hand", "ns")
    meta = {"name": ref.name, "namespace": ref.namespace, "annotations": annotations}
    resource = {"group": "", "version": "v1", "kind": "ConfigMap", "name": "made"}
    resource |= {"sourceName": "", "sourceNamespace": ""}
    resource["manifest"] = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "made"}})
    plan = {
        "apiVersion": ref.api_version, "kind": ref.kind, "metadata": meta,
        "spec": {"clusterServiceVersionNames": ["a.v1"], "approval": "Automatic", "approved": True},
        "status": {
            "phase": "Installing", "catalogSources": [],
            "plan": [{"resolving": "a.v1", "status": "Unknown", "resource": resource}],
        },
    }  # fmt: skip
    version = {
        "apiVersion": CSV.api_version, "kind": CSV.kind, "metadata": {"name": "a.v1", "namespace": "ns"}, "spec": {}
    }  # fmt: skip
    world = World(an_operator_group(), version, plan, policy=Policy(execute_foreign_plans=True))
    world.run(Job("install_plan/execute_install_plan", ref))
    assert [step["status"] for step in world.objects[ref]["status"]["plan"]] == steps


def half_done() -> World:
    """OLM made the version, and not yet what it needs; then we took over."""
    world = installed(a_subscription())
    [plan] = the(world, kinds.INSTALL_PLAN)
    undone = [{**step, "status": "Unknown"} for step in plan["status"]["plan"][-1:]]
    steps = [*plan["status"]["plan"][:-1], *undone]
    of_olm = {**plan["status"], "phase": "Installing", "plan": steps, "conditions": []}
    world.put({**plan, "metadata": {**metadata(plan), "annotations": {}}, "status": of_olm})
    ended(world)
    return world


def test_a_half_done_plan_whose_version_exists_is_reported_and_stops_updates_until_it_is_deleted() -> None:
    """It is not made again: nobody knows what is missing. Whoever deletes it has read so."""
    world = half_done()
    [plan] = the(world, kinds.INSTALL_PLAN)
    pending = {one["type"]: one for one in status(world)["conditions"]}["InstallPlanPending"]
    assert (reported(plan), pending["message"]) == ("NotPlannedHere", plan["status"]["message"])
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0", "2.0.0"))
    world.receive(names.RESYNC_REQUESTED, kinds.CATALOG_SOURCE.ref("local", "olm"))
    ended(world)
    assert [name_of(one) for one in the(world, kinds.INSTALL_PLAN)] == [name_of(plan)]

    world.remove(Ref.of(plan))
    ended(world)
    assert status(world)["installedCSV"] == "etcd.v2.0.0"


def test_what_a_half_done_plan_left_is_installed_anew_as_its_message_says() -> None:
    world = half_done()
    [plan] = the(world, kinds.INSTALL_PLAN)
    missing = [ref for ref in world.objects if (ref.kind, ref.namespace) == ("ServiceAccount", "ns")]
    for ref in (*missing, Ref.of(plan), CSV, kinds.SUBSCRIPTION.ref("etcd", "ns")):
        world.remove(ref)
    ended(world)
    world.put(a_subscription())
    ended(world)
    assert missing
    assert set(missing) <= world.objects.keys()
    assert status(world)["installedCSV"] == name_of(world.objects[CSV])


def test_a_finished_plan_of_olm_stays_as_it_is() -> None:
    world = installed(a_subscription())
    [plan] = the(world, kinds.INSTALL_PLAN)
    of_olm = {key: value for key, value in plan["status"].items() if key != "conditions"}
    world.put({**plan, "metadata": {**metadata(plan), "annotations": {}}, "status": of_olm})
    world.settle()
    assert world.objects[Ref.of(plan)]["status"] == of_olm
    assert the_plan(world)["metadata"]["name"] == name_of(plan)


@pytest.mark.measured
@pytest.mark.parametrize("unpack", ["job", "direct"])
def test_a_bundle_that_was_exchanged_after_planning_is_unpacked_again(unpack: str) -> None:
    """Who may write the ConfigMap, but not the plan, does not get another content executed."""
    world = installed(MANUAL, policy=Policy(unpack=unpack))  # type: ignore[arg-type]  # why: a parameter
    [plan] = the(world, kinds.INSTALL_PLAN)
    [config_map] = the(world, kinds.CONFIG_MAP, "olm")
    csv, *others = a_bundle("etcd", "1.0.0")
    evil = {**csv, "spec": {**csv["spec"], "description": "evil"}}
    world.put({**config_map, **a_payload("registry/etcd:v1.0.0", evil, *others), "metadata": config_map["metadata"]})
    world.put({**plan, "spec": {**plan["spec"], "approved": True}})
    world.settle()
    assert CSV not in world.objects
    for _ in range(4):
        world.later(seconds=5)
        ended(world)
    assert world.objects[Ref.of(plan)]["status"]["phase"] == "Complete"
    assert "description" not in world.objects[CSV]["spec"]
