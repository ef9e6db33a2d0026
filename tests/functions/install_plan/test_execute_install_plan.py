"""Carrying out plans: obstacles, approval, refusals, and every kind of step."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import timedelta

import pytest

from eventing.events.job import Job
from shared import kinds, names
from shared.api.manifest import Manifest, annotations_of, labels_of, metadata
from shared.api.views import ConfigMap, InstallPlan
from shared.domain.unpack.content import digest_in
from shared.kinds import Kind, Ref
from shared.ports import Attempt, FailureKind, Policy, WriteFailure
from shared.step import Create, Emit, Record
from tests.functions.subscription.world import World, a_crd, an_operator_group
from tests.kit.plans import recorded
from tests.kit.world import NOW

STEP = "install_plan/execute_install_plan"
PLAN = kinds.INSTALL_PLAN.ref("install-abcde", "ns")
CSV: Manifest = {
    "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
    "metadata": {"name": "a.v1", "namespace": "ns"},
    "spec": {"displayName": "A", "version": "1.0.0", "install": {"strategy": "deployment"}},
}  # fmt: skip


def a_plan(*objects: Manifest, approved: bool = True, phase: str = "Installing", **status: object) -> Manifest:
    """A plan whose steps carry their manifests themselves."""
    spec = {"clusterServiceVersionNames": ["a.v1"], "approval": "Manual", "approved": approved, "generation": 1}
    return recorded(
        {
            "apiVersion": kinds.INSTALL_PLAN.api_version,
            "kind": "InstallPlan",
            "metadata": {"name": PLAN.name, "namespace": PLAN.namespace},
            "spec": spec,
            "status": {"phase": phase, "catalogSources": [], "plan": [a_step(one) for one in objects], **status},
        }
    )


def a_step(manifest: Manifest, status: str = "Unknown", kind: str = "") -> Manifest:
    group, _, version = manifest["apiVersion"].rpartition("/")
    resource = {
        "sourceName": "local", "sourceNamespace": "olm", "group": group, "version": version,
        "kind": kind or manifest["kind"], "name": metadata(manifest)["name"], "manifest": json.dumps(manifest),
    }  # fmt: skip
    return {"resolving": "a.v1", "status": status, "resource": resource}


NEEDED: dict[str, Manifest] = {
    "Service": {"spec": {"ports": [{"port": 80}]}},
    "RoleBinding": {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "thing"}},
    "ClusterRoleBinding": {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "thing"}
    },
    "PriorityClass": {"value": 1},
    "Secret": {"type": "Opaque"},
}
"""What an API server does not take these kinds without."""


def an_object(kind: str, api_version: str = "v1", name: str = "thing", **fields: object) -> Manifest:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **NEEDED.get(kind, {}), **fields}


def carried_out(plan: Manifest, *others: Manifest, served: Iterable[Kind] = (), groups: int = 1) -> World:
    """The world after the plan was carried out as far as it goes."""
    groups_there = (an_operator_group(name=f"g{number}") for number in range(groups))
    world = World(*groups_there, *others, recorded(plan), served=served)
    world.settle()
    return world


def status(world: World) -> Manifest:
    found: Manifest = world.objects[PLAN]["status"]
    return found


def installed_condition(world: World) -> tuple[str, str, str]:
    [condition] = [one for one in status(world)["conditions"] if one["type"] == "Installed"]
    return condition["status"], condition.get("reason", ""), condition.get("message", "")


def steps(world: World) -> list[str]:
    return [step["status"] for step in status(world)["plan"]]


def test_an_approved_plan_completes() -> None:
    """catalog.md 8.9.98: Installing and no error becomes Complete, whoever approved."""
    world = carried_out(a_plan(CSV))
    assert status(world)["phase"] == "Complete"
    assert installed_condition(world) == ("True", "", "")
    assert status(world)["startTime"] == "2026-01-01T00:00:00Z"
    assert names.PLAN_COMPLETED in world.emitted


@pytest.mark.parametrize("phase", ["Complete", "Failed"])
def test_the_end_of_a_plan_wakes_the_versions_that_wait_for_it(phase: str) -> None:
    """csv.md 1.4: a version does not look at its requirements while its plan still makes them."""
    long_ago = (NOW - timedelta(hours=1)).isoformat()
    world = World(an_operator_group(), a_plan(CSV if phase == "Complete" else an_object("Pod"), startTime=long_ago))
    outcome = world.run(Job(STEP, PLAN))
    assert status(world)["phase"] == phase
    assert Emit(names.REQUIREMENT_CHANGED, kinds.CLUSTER_SERVICE_VERSION.ref("a.v1", "ns")) in outcome.emits


@pytest.mark.parametrize("message", ["", "retrying execution due to error: Role a: forbidden"])
def test_the_end_of_a_plan_that_was_tried_again_lets_the_groups_give_permissions(message: str) -> None:
    """csv.md 8.9: its versions did not wait for it, and may have succeeded before it says what it made."""
    plan = a_plan(CSV)
    world = World(an_operator_group(), {**plan, "status": {**plan["status"], "message": message}})
    outcome = world.run(Job(STEP, PLAN))
    due = Emit(names.GRANT_DUE, kinds.OPERATOR_GROUP.ref("group", "ns"))
    assert (status(world)["phase"], due in outcome.emits) == ("Complete", bool(message))


def test_a_version_is_created_as_a_member_of_the_group() -> None:
    """csv.md 3.1-2 and 3.3: the finalizer and the annotations cost no write of their own."""
    world = carried_out(a_plan(CSV))
    created = world.objects[kinds.CLUSTER_SERVICE_VERSION.ref("a.v1", "ns")]
    assert metadata(created)["finalizers"] == [names.CSV_CLEANUP]
    assert annotations_of(created) == {
        "olm.operatorGroup": "g0", "olm.operatorNamespace": "ns", "olm.targetNamespaces": "ns",
    }  # fmt: skip


def test_what_came_between_looking_and_creating_is_looked_at_again() -> None:
    """csv.md 10.2: a copy of that name would else be taken for the version that the plan has created."""
    outcome = World(an_operator_group(), a_plan(CSV)).run(Job(STEP, PLAN))
    assert [write.must_be_new for write in outcome.writes if isinstance(write, Create)] == [True]


def test_a_plan_waits_for_approval_and_goes_on_with_it() -> None:
    """catalog.md 8.9.99: RequiresApproval stays until spec.approved."""
    world = carried_out(a_plan(CSV, approved=False, phase="RequiresApproval"))
    before = status(world)
    outcome = world.run(Job(STEP, PLAN))
    assert (before["phase"], outcome.writes) == ("RequiresApproval", ())
    assert outcome.wait is not None
    assert "spec.approved" in outcome.wait.what
    world.put(a_plan(CSV, phase="RequiresApproval"))
    world.settle()
    assert status(world)["phase"] == "Complete"


def test_a_plan_waits_for_approval_since_it_was_made_however_often_it_is_looked_at() -> None:
    world = carried_out(a_plan(CSV, approved=False, phase="RequiresApproval"))
    made = InstallPlan(world.objects[PLAN]).created
    world.later(days=3)
    outcome = world.run(Job(STEP, PLAN))
    assert outcome.wait is not None
    assert outcome.wait.since == made != world.time


def test_a_plan_whose_approval_was_withdrawn_does_not_tell_since_when_it_waits() -> None:
    world = carried_out(a_plan(CSV))
    world.put(a_plan(CSV, approved=False))
    outcome = world.run(Job(STEP, PLAN))
    assert outcome.wait is not None
    assert outcome.wait.since is None


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param(a_plan(), id="catalog.md 8.9.100: a plan without steps is ignored"),
        pytest.param(a_plan(CSV, phase="Complete"), id="a complete plan stays as it is"),
        pytest.param(a_plan(CSV, phase="Failed"), id="a failed plan stays as it is"),
    ],
)
def test_a_finished_plan_is_left_alone(plan: Manifest) -> None:
    world = carried_out(plan, groups=0)
    assert world.requests["write"] == 0
    assert status(world) == plan["status"]


@pytest.mark.parametrize("phase", ["", "Planning"])
def test_a_plan_of_ours_goes_on_from_any_phase_that_is_not_the_last(phase: str) -> None:
    """catalog.md 4.3.5: OLM leaves it there for ever."""
    assert status(carried_out(a_plan(CSV, phase=phase)))["phase"] == "Complete"
    waiting = carried_out(a_plan(CSV, phase=phase, approved=False))
    assert status(waiting)["phase"] == "RequiresApproval"


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        pytest.param([], "no operator group found that is managing this namespace", id="catalog.md 8.9.101: none"),
        pytest.param(
            [an_operator_group(name="a"), an_operator_group(name="b")],
            "more than one operator group(s) are managing this namespace count=2",
            id="catalog.md 8.9.101: two",
        ),
        pytest.param(
            [an_operator_group() | {"status": {}}],
            "no operator group found that is managing this namespace",
            id="catalog.md 8.9.103: one without namespaces",
        ),
        pytest.param(
            [an_operator_group(serviceAccountName="scoped")],
            "please make sure the service account exists. sa=scoped operatorgroup=ns/group",
            id="csv.md 8.4: a service account that does not exist",
        ),
    ],
)
def test_an_obstacle_in_the_namespace_stops_every_plan(groups: list[Manifest], message: str) -> None:
    world = World(*groups, a_plan(CSV))
    world.settle()
    assert status(world)["phase"] == "Installing"
    assert installed_condition(world) == ("False", "InstallCheckFailed", message)
    written = world.requests["write"]
    world.later(seconds=6)
    assert world.requests["write"] == written, "the same obstacle is not written again"
    for ref in [Ref.of(group) for group in groups]:
        world.remove(ref)
    world.put(an_operator_group(name="good"))
    world.later(seconds=6)
    assert (status(world)["phase"], installed_condition(world)) == ("Complete", ("True", "", "")), "8.9.102"


def test_an_unapproved_plan_says_the_obstacle_too_and_forgets_it() -> None:
    """catalog.md 4.3.2 and 4.3.3: phase unchanged; then Installed=False, reason Unknown, no message."""
    world = carried_out(a_plan(CSV, approved=False, phase="RequiresApproval"), groups=0)
    assert status(world)["phase"] == "RequiresApproval"
    assert installed_condition(world)[1] == "InstallCheckFailed"
    world.put(an_operator_group())
    world.later(seconds=6)
    assert (status(world)["phase"], installed_condition(world)) == ("RequiresApproval", ("False", "Unknown", ""))


def test_a_refused_write_is_retried_and_then_final() -> None:
    """catalog.md 8.9.98 and 8.9.104: inside the window Installing with a message, then Failed."""
    world = World(an_operator_group(), a_plan(CSV), policy=Policy())
    csv = kinds.CLUSTER_SERVICE_VERSION.ref("a.v1", "ns")
    world.refused[csv] = WriteFailure("invalid", "spec is nonsense", 0, csv)
    world.settle()
    assert status(world)["phase"] == "Installing"
    assert status(world)["message"] == ("retrying execution due to error: ClusterServiceVersion a.v1: spec is nonsense")
    assert "Installed" not in {one["type"] for one in status(world)["conditions"]}
    world.later(seconds=61)
    assert status(world)["phase"] == "Failed"
    assert (names.PLAN_FAILED in world.emitted, names.PLAN_COMPLETED in world.emitted) == (True, False)
    assert installed_condition(world) == (
        "False", "InstallComponentFailed", "ClusterServiceVersion a.v1: spec is nonsense",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        pytest.param("forbidden", "cannot create", id="catalog.md 8.12.145: rights granted later"),
        pytest.param("unanswered", 'failed calling webhook "a.example.com"', id="a webhook that answers later"),
    ],
)
def test_a_write_that_may_be_allowed_later_is_retried_for_ever(kind: FailureKind, message: str) -> None:
    world = World(an_operator_group(), a_plan(CSV))
    csv = kinds.CLUSTER_SERVICE_VERSION.ref("a.v1", "ns")
    world.refused[csv] = WriteFailure(kind, message, 0, csv)
    world.settle()
    for _ in range(20):
        world.later(seconds=30)
    assert status(world)["phase"] == "Installing"
    assert steps(world) == ["Unknown"]
    world.refused.clear()
    world.later(seconds=30)
    assert status(world)["phase"] == "Complete"
    assert "message" not in status(world)


@pytest.mark.parametrize(
    ("more", "home"),
    [
        pytest.param(
            {"labels": {names.COPIED_FROM: "operators"}}, "namespace operators", id="its label names the home"
        ),
        pytest.param({"annotations": {names.OPERATOR_NAMESPACE: "operators"}}, "namespace operators", id="annotated"),
        pytest.param({}, "another namespace", id="only its status says that it is a copy"),
    ],
)
def test_a_copied_csv_is_never_present_and_the_plan_waits_until_it_goes(more: Manifest, home: str) -> None:
    copy = {**CSV, "metadata": {**CSV["metadata"], **more}, "status": {"reason": "Copied"}}
    world = carried_out(a_plan(CSV), copy)
    for _ in range(20):
        world.later(seconds=30)
    assert (status(world)["phase"], steps(world)) == ("Installing", ["Unknown"])
    assert status(world)["message"] == (
        f"retrying execution due to error: a.v1 is installed for this namespace already, from {home}, and its copy "
        "here has the same name. Use that one and delete the Subscription, or leave this namespace out of the "
        f"OperatorGroup of {home}; the install goes on by itself once the copy is gone."
    )
    world.remove(Ref.of(copy))
    world.later(seconds=5)
    assert (status(world)["phase"], steps(world)) == ("Complete", ["Created"])


REVISION: Manifest = {
    "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterObjectSet", "metadata": {"name": "tide-1", "uid": "r"},
}  # fmt: skip


def controlled(manifest: Manifest) -> Manifest:
    """The object as one that a ClusterObjectSet controls."""
    identity = {key: REVISION[key] for key in ("apiVersion", "kind")}
    owner = {**identity, **REVISION["metadata"], "controller": True}
    return {**manifest, "metadata": {**metadata(manifest), "ownerReferences": [owner]}}


@pytest.mark.parametrize(
    "theirs",
    [
        pytest.param(an_object("ServiceAccount"), id="an object of a bundle"),
        pytest.param(a_crd("tides.example.com"), id="a definition"),
    ],
)
def test_an_object_that_olm_v1_controls_is_not_taken_and_nothing_is_written_before_it_is_let_go(
    theirs: Manifest,
) -> None:
    place = {"namespace": "ns"} if theirs["kind"] == "ServiceAccount" else {}
    live = controlled({**theirs, "metadata": {**metadata(theirs), **place}})
    world = carried_out(a_plan(CSV, theirs), REVISION, live)
    assert steps(world) == ["Unknown", "Unknown"]
    assert status(world)["message"] == (
        f"retrying execution due to error: {theirs['kind']} {metadata(theirs)['name']} is controlled by "
        "ClusterObjectSet tide-1, and not taken from it"
    )
    assert metadata(world.objects[Ref.of(live)])["ownerReferences"] == metadata(live)["ownerReferences"]
    assert kinds.CLUSTER_SERVICE_VERSION.ref("a.v1", "ns") not in world.objects


def test_a_conflict_only_means_to_look_again() -> None:
    world = World(an_operator_group(), a_plan(CSV))
    conflict = WriteFailure("conflict", "changed", 0, PLAN)
    outcome = world.decide(Job(STEP, PLAN), Attempt(2, conflict))
    assert len(outcome.writes) == 2


@pytest.mark.parametrize(
    ("manifest", "kind", "owned"),
    [
        pytest.param(an_object("Service"), "Service", True, id="catalog.md 8.10.108: a Service, owned by its CSV"),
        pytest.param(an_object("ConfigMap"), "ConfigMap", True, id="catalog.md 8.10.108: a ConfigMap, owned"),
        pytest.param(an_object("Secret"), "BundleSecret", True, id="catalog.md 8.10.108: a shipped Secret, owned"),
        pytest.param(an_object("ServiceAccount"), "ServiceAccount", False, id="catalog.md 8.10.108: a ServiceAccount"),
        pytest.param(an_object("Role", "rbac.authorization.k8s.io/v1"), "Role", False, id="a Role"),
        pytest.param(
            an_object("PrometheusRule", "monitoring.coreos.com/v1"), "PrometheusRule", True,
            id="catalog.md 8.10.111: a PrometheusRule after its CSV",
        ),
    ],
)  # fmt: skip
def test_a_namespaced_object_is_created_where_the_plan_is(manifest: Manifest, kind: str, owned: bool) -> None:
    rule = Kind("monitoring.coreos.com/v1", "PrometheusRule", "prometheusrules")
    plan = a_plan(CSV)
    plan["status"]["plan"].append(a_step(manifest, kind=kind))
    world = carried_out(plan, served=[rule])
    assert steps(world) == ["Created", "Created"]
    created = world.objects[Ref(manifest["apiVersion"], manifest["kind"], "thing", "ns")]
    assert labels_of(created)["olm.managed"] == "true"
    owners = [(owner["name"], owner["uid"]) for owner in metadata(created).get("ownerReferences", ())]
    uid = metadata(world.objects[kinds.CLUSTER_SERVICE_VERSION.ref("a.v1", "ns")])["uid"]
    assert owners == ([("a.v1", uid)] if owned else [])


def test_a_csv_that_is_there_is_left_alone() -> None:
    """catalog.md 4.5: ClusterServiceVersion, AlreadyExists, Present and untouched."""
    live = {**CSV, "spec": {**CSV["spec"], "displayName": "edited"}}
    world = carried_out(a_plan(CSV), live)
    assert steps(world) == ["Present"]
    found = world.objects[kinds.CLUSTER_SERVICE_VERSION.ref("a.v1", "ns")]
    assert found["spec"] == live["spec"]


def test_a_subscription_of_a_plan_names_it() -> None:
    """catalog.md 4.5: Subscription, annotation olm.generated-by, label olm.managed."""
    subscription = an_object(
        "Subscription", kinds.SUBSCRIPTION.api_version, spec={"name": "b", "source": "local", "sourceNamespace": "olm"}
    )
    world = World(an_operator_group(), a_plan(subscription))
    world.run(Job(STEP, PLAN))
    created = world.objects[kinds.SUBSCRIPTION.ref("thing", "ns")]
    assert annotations_of(created)["olm.generated-by"] == PLAN.name
    assert labels_of(created)["olm.managed"] == "true"


@pytest.mark.parametrize("kind", ["ClusterRole", "ClusterRoleBinding"])
def test_a_cluster_role_that_is_there_is_brought_up_to_date(kind: str) -> None:
    """catalog.md 4.5: ClusterRole, AlreadyExists, label olm.owner, Present."""
    role = an_object(kind, "rbac.authorization.k8s.io/v1")
    world = carried_out(a_plan(role), role)
    assert steps(world) == ["Present"]
    assert labels_of(world.objects[Ref("rbac.authorization.k8s.io/v1", kind, "thing")])["olm.owner"] == "a.v1"


def test_a_cluster_scoped_object_is_labelled_with_its_owner() -> None:
    """catalog.md 8.10.114: cluster objects carry owner labels."""
    priority = Kind("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", is_namespaced=False)
    world = carried_out(a_plan(an_object("PriorityClass", "scheduling.k8s.io/v1")), served=[priority])
    assert labels_of(world.objects[priority.ref("thing")]) == {
        "olm.managed": "true", "olm.owner": "a.v1", "olm.owner.namespace": "ns",
        "olm.owner.kind": "ClusterServiceVersion",
    }  # fmt: skip


@pytest.mark.parametrize("manifest", [an_object("ConfigMap"), an_object("ClusterRole", "rbac.authorization.k8s.io/v1")])
def test_a_step_that_names_no_version_leaves_the_owners_as_they_are(manifest: Manifest) -> None:
    """catalog.md 4.5: only the uids of owners that the manifest names are written."""
    world = carried_out(a_plan(plan=[a_step(manifest) | {"resolving": ""}]), CSV)
    assert status(world)["phase"] == "Complete"
    [made] = [one for ref, one in world.objects.items() if ref.name == "thing"]
    assert (labels_of(made), metadata(made).get("ownerReferences")) == ({names.MANAGED: "true"}, None)


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        pytest.param(
            a_plan(an_object("Pod")), "the InstallPlan contains invalid data: "
            "Pod thing cannot be a step of a plan; an administrator may allow it: kubectl -n olm set env "
            "deployment/olmf-worker OLMF_BUNDLE_KINDS=Pod (without our pods: in the environment of `olmf up`)",
            id="catalog.md 8.10.112: an unsupported kind",
        ),
        pytest.param(
            a_plan(an_object("ServiceMonitor", "monitoring.coreos.com/v1")),
            "api-server resource not found installing ServiceMonitor thing: GroupVersionKind "
            "monitoring.coreos.com/v1, Kind=ServiceMonitor not found on the cluster. This API may have been deprecated "
            "and removed, see https://kubernetes.io/docs/reference/using-api/deprecation-guide/ for more information.",
            id="catalog.md 8.9.105: an API that is not served",
        ),
        pytest.param(
            a_plan(an_object("Secret", name="s")), 'secret s does not exist - secrets "s" not found',
            id="catalog.md 8.10.109: a pull secret without source",
        ),
        pytest.param(
            a_plan(a_crd("as.example.com") | {"apiVersion": "apiextensions.k8s.io/v2"}),
            "CRD APIVersion from manifest not supported: v2",
            id="catalog.md 4.8: a definition of an unknown version",
        ),
        pytest.param(
            a_plan(an_object("ConfigMap", name="../secrets")),
            "ConfigMap '../secrets': '../secrets' is no name of a ConfigMap: wanted lower case letters, digits, '-' "
            "and '.', at most 253",
            id="an object that no server would take",
        ),
        pytest.param(
            a_plan(a_crd("as/status")),
            "CustomResourceDefinition 'as/status': 'as/status' is no name of a CustomResourceDefinition: wanted lower "
            "case letters, digits, '-' and '.', at most 253",
            id="a definition that no server would take",
        ),
    ],
)  # fmt: skip
def test_a_step_that_cannot_be_carried_out_fails_the_plan_after_the_window(plan: Manifest, message: str) -> None:
    world = carried_out(plan)
    assert (status(world)["phase"], status(world)["message"]) == (
        "Installing", f"retrying execution due to error: {message}",
    )  # fmt: skip
    world.later(seconds=61)
    assert (status(world)["phase"], status(world)["message"]) == ("Failed", message)


def test_the_steps_before_a_failing_one_are_done_and_those_after_it_are_not() -> None:
    world = carried_out(a_plan(CSV, an_object("Pod"), an_object("ConfigMap")))
    assert steps(world) == ["Created", "UnsupportedResource", "Unknown"]
    assert kinds.CONFIG_MAP.ref("thing", "ns") not in world.objects


CONFLICTING = a_crd("rivals.example.com")
CONFLICTING["spec"]["names"]["shortNames"] = ["as"]
"""A definition that has the name which `as.example.com` would need, so that this is not served."""


def test_a_definition_counts_only_when_its_api_is_served() -> None:
    """catalog.md 8.11.141 does better than OLM: not Complete before the API exists."""
    crd = a_crd("as.example.com")
    plan = a_plan(crd)
    plan["status"]["plan"][0]["status"] = "WaitingForApi"
    world = World(an_operator_group(), CONFLICTING, crd, plan)
    world.run(Job(STEP, PLAN))
    assert (status(world)["phase"], steps(world)) == ("Installing", ["WaitingForApi"])
    world.remove(Ref.of(CONFLICTING))
    world.put(crd)
    world.settle()
    assert (status(world)["phase"], steps(world)) == ("Complete", ["Created"])


def test_a_definition_that_goes_before_it_is_served_is_created_again() -> None:
    plan = a_plan(a_crd("as.example.com"))
    plan["status"]["plan"][0]["status"] = "WaitingForApi"
    world = carried_out(plan)
    assert (status(world)["phase"], steps(world)) == ("Complete", ["Created"])
    assert kinds.CUSTOM_RESOURCE_DEFINITION.ref("as.example.com") in world.objects


def test_one_definition_that_is_not_served_is_enough_to_look_again() -> None:
    """The others are not read: a definition may weigh half a megabyte, and the server is busy with them."""
    first, second = a_crd("as.example.com"), a_crd("bs.example.com")
    plan = a_plan(first, second)
    for step in plan["status"]["plan"]:
        step["status"] = "WaitingForApi"
    world = World(an_operator_group(), plan, first, second)
    world.objects.serve_later(Ref.of(first))
    world.objects.serve_later(Ref.of(second))
    world.run(Job(STEP, PLAN))
    assert (status(world)["phase"], steps(world)) == ("Installing", ["WaitingForApi", "WaitingForApi"])
    world.put(first)
    world.put(second)
    world.settle()
    assert (status(world)["phase"], steps(world)) == ("Complete", ["Created", "Created"])


def test_a_definition_whose_names_are_taken_is_reported_and_does_not_loop_hot() -> None:
    """catalog.md 4.8 NamesAccepted: OLM completes such a plan; here it says what is wrong, and fails."""
    crd = a_crd("as.example.com")
    plan = a_plan(crd)
    plan["status"]["plan"][0]["status"] = "WaitingForApi"
    world = carried_out(plan, CONFLICTING, crd)
    taken = "another definition of the group has one of the names"
    error = f"CustomResourceDefinition as.example.com is not served: {taken} (KindConflict)"
    assert status(world)["message"] == f"retrying execution due to error: {error}"
    world.later(seconds=61)
    assert (status(world)["phase"], status(world)["message"]) == ("Failed", error)


@pytest.mark.parametrize(
    ("seconds", "want"),
    [
        pytest.param(0, timedelta(milliseconds=150), id="a definition is served within moments"),
        pytest.param(30, timedelta(seconds=1.5), id="a server that is busy takes longer"),
        pytest.param(101, timedelta(seconds=5), id="catalog.md 4.3.6: still Installing, again in 5 s"),
    ],
)
def test_an_api_that_stays_away_is_looked_for_less_often(seconds: int, want: timedelta) -> None:
    crd = a_crd("as.example.com")
    plan = a_plan(crd, startTime=(NOW - timedelta(seconds=seconds)).isoformat())
    plan["status"]["plan"][0]["status"] = "WaitingForApi"
    world = World(an_operator_group(), crd, plan)
    world.objects.serve_later(Ref.of(crd))
    assert world.run(Job(STEP, PLAN)).again_in == want


def test_a_plan_without_steps_that_names_bundles_completes() -> None:
    """catalog.md 8.10.107: no steps, ok."""
    plan = a_plan(bundleLookups=[A_LOOKUP])
    del plan["status"]["plan"]
    assert status(carried_out(plan))["phase"] == "Complete"


def test_a_definition_that_drops_a_stored_version_is_refused() -> None:
    """catalog.md 8.11.135: risk of data loss."""
    world = carried_out(a_plan(a_crd("as.example.com", "v2")), a_crd("as.example.com", "v1"))
    world.later(seconds=61)
    assert status(world)["message"] == (
        'risk of data loss updating "as.example.com": new CRD removes version v1 that is listed as a stored version on '
        "the existing CRD"
    )


def test_a_definition_may_drop_a_version_once_its_objects_are_migrated() -> None:
    """catalog.md 8.11.135: the same plan after `storedVersions` was edited."""
    live = a_crd("as.example.com", "v1", "v2")
    plan = a_plan(a_crd("as.example.com", "v2"))
    refused = carried_out(plan, live | {"status": {"storedVersions": ["v1", "v2"]}})
    assert "risk of data loss" in status(refused)["message"]
    migrated = carried_out(plan, live | {"status": {"storedVersions": ["v2"]}})
    assert steps(migrated) == ["Present"]


@pytest.mark.parametrize(
    ("live", "new"),
    [
        pytest.param(("v1", "v2"), ("v1",), id="catalog.md 8.11.129: a version that is not stored is dropped"),
        pytest.param(("v1",), ("v1", "v2"), id="catalog.md 8.11.136: the stored version is kept"),
    ],
)
def test_a_definition_may_change_where_nothing_is_stored(live: tuple[str, ...], new: tuple[str, ...]) -> None:
    world = carried_out(a_plan(a_crd("as.example.com", *new)), a_crd("as.example.com", *live))
    assert (status(world)["phase"], steps(world)) == ("Complete", ["Present"])


def test_a_definition_is_updated_and_remembers_each_csv_that_brought_it() -> None:
    """catalog.md 8.11.127, 137 and 138: updated; one annotation per CSV; those of missing CSVs are dropped."""
    live = a_crd("as.example.com", "v1")
    live["metadata"]["annotations"] = {
        "operatorframework.io/installed-alongside-1": "ns/gone.v1",
        "operatorframework.io/installed-alongside-2": "other/b.v1",
        "owner": "somebody else",
    }
    world = carried_out(a_plan(CSV, a_crd("as.example.com", "v1", "v2")), live)
    assert steps(world) == ["Created", "Present"]
    updated = world.objects[kinds.CUSTOM_RESOURCE_DEFINITION.ref("as.example.com")]
    assert [one["name"] for one in updated["spec"]["versions"]] == ["v1", "v2"]
    assert sorted(annotations_of(updated).values()) == ["ns/a.v1", "other/b.v1", "somebody else"]


A_LOOKUP = {
    "path": "registry/a:v1", "identifier": "a.v1", "replaces": "",
    "catalogSourceRef": {"name": "local", "namespace": "olm"},
}  # fmt: skip
ANEW = "delete ClusterServiceVersion a.v1 and its Subscription, and create the Subscription again"


@pytest.mark.parametrize(
    ("present", "sentence"),
    [
        pytest.param((), "otherwise delete this plan to get a new one", id="before its version exists"),
        pytest.param((CSV,), f"otherwise {ANEW}", id="once its version exists no other plan is made"),
    ],
)
def test_a_reference_to_a_deleted_config_map_says_what_to_do(present: tuple[Manifest, ...], sentence: str) -> None:
    plan = a_plan(CSV)
    reference = {
        "kind": "ConfigMap", "name": "h", "namespace": "olm", "catalogSourceName": "local",
        "catalogSourceNamespace": "olm",
    }  # fmt: skip
    plan["status"]["plan"][0]["resource"]["manifest"] = json.dumps(reference)
    world = carried_out(plan, *present)
    assert "error finding unpacked bundle configmap for ref olm/h" in status(world)["message"]
    assert status(world)["message"].endswith(sentence)


def a_scaled_crd(**spec: object) -> Manifest:
    """A definition whose objects have `spec.scalar`, with these rules."""
    crd = a_crd("as.example.com", kind="A")
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"scalar": spec}}}}
    crd["spec"]["versions"][0]["schema"] = {"openAPIV3Schema": schema}
    return crd


WEBHOOK: Manifest = {
    "strategy": "Webhook",
    "webhook": {
        "conversionReviewVersions": ["v1"],
        "clientConfig": {"service": {"name": "s", "namespace": "ns"}},
    },
}
TOO_SMALL = (
    'error validating existing CRs against new CRD\'s schema for "as.example.com": error validating example.com/v1, '
    'Kind=A "ns/one": updated validation is too restrictive: [].spec.scalar: Invalid value: 2: spec.scalar in body '
    "should be greater than or equal to 3"
)


def upgraded(new: Manifest) -> World:
    """The world after a plan brought the definition to a cluster with one object whose scalar is 2."""
    served = Kind("example.com/v1", "A", "as")
    one = an_object("A", "example.com/v1", "one", spec={"scalar": 2})
    one["metadata"]["namespace"] = "ns"
    return carried_out(a_plan(CSV, new), a_scaled_crd(type="integer", minimum=1), one, served=[served])


def test_a_definition_that_refuses_existing_objects_fails_the_plan() -> None:
    """catalog.md 8.11.128 and 133: the plan fails with the field errors; unlike in OLM nothing of it was written."""
    world = upgraded(a_scaled_crd(type="integer", minimum=3))
    world.later(seconds=61)
    assert (status(world)["phase"], status(world)["message"]) == ("Failed", TOO_SMALL)
    assert steps(world) == ["Unknown", "Unknown"]


def test_with_a_conversion_webhook_a_violation_is_a_warning() -> None:
    """catalog.md 8.11.142: event CRDValidation, and the update proceeds."""
    new = a_scaled_crd(type="integer", minimum=3)
    new["spec"]["conversion"] = WEBHOOK
    world = upgraded(new)
    assert status(world)["phase"] == "Complete"
    [event] = world.events
    assert (event.reason, TOO_SMALL in event.message) == ("CRDValidation", True)


SCAFFOLD: Manifest = {"clientConfig": {"service": {"name": "webhook-service", "namespace": "system"}}}
"""What the tools that make bundles leave in a definition: a Service that is in no cluster."""
CONVERTING: Manifest = {
    "type": "ConversionWebhook", "generateName": "as", "conversionCRDs": ["as.example.com"], "sideEffects": "None",
    "admissionReviewVersions": ["v1"], "deploymentName": "a",
}  # fmt: skip


@pytest.mark.parametrize(
    ("hooks", "led_to"),
    [
        pytest.param((CONVERTING,), "s", id="that of a version is kept"),
        pytest.param((), "webhook-service", id="that of a bundle whose version describes none is its own"),
        pytest.param(
            ({**CONVERTING, "conversionCRDs": ["bs.example.com"]},), "webhook-service", id="the same, of another one"
        ),
    ],
)
def test_what_a_bundle_states_of_a_conversion_csv_md_7_6(hooks: tuple[Manifest, ...], led_to: str) -> None:
    """An upgrade must not lead the API server to nobody until the new version is installed."""
    live, new = a_scaled_crd(type="integer"), a_scaled_crd(type="integer", minimum=1)
    live["spec"]["conversion"] = WEBHOOK
    new["spec"]["conversion"] = {"strategy": "Webhook", "webhook": {**WEBHOOK["webhook"], **SCAFFOLD}}
    version = {**CSV, "spec": {**CSV["spec"], "webhookdefinitions": list(hooks)}}
    world = carried_out(a_plan(version, new), live)
    definition = world.objects[kinds.CUSTOM_RESOURCE_DEFINITION.ref("as.example.com")]
    assert definition["spec"]["versions"] == new["spec"]["versions"]
    assert definition["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["name"] == led_to


def test_a_definition_that_accepts_existing_objects_is_updated() -> None:
    """catalog.md 8.11.134: objects that are valid must not be refused."""
    new = a_scaled_crd(**{"x-kubernetes-int-or-string": True})
    world = upgraded(new)
    assert (status(world)["phase"], world.events) == ("Complete", [])


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        pytest.param("{", "error parsing step manifest: Expecting property name", id="catalog.md 4.5: no JSON"),
        pytest.param("[]", "error parsing step manifest: wanted an object, got []", id="catalog.md 4.5: no object"),
    ],
)
def test_a_malformed_manifest_is_reported(manifest: str, message: str) -> None:
    plan = a_plan(CSV)
    plan["status"]["plan"][0]["resource"]["manifest"] = manifest
    assert status(carried_out(plan))["message"].startswith(f"retrying execution due to error: {message}")


def test_a_definition_with_a_field_of_the_wrong_type_is_reported() -> None:
    world = upgraded(a_scaled_crd(minimum="3"))
    misfit = "json: cannot unmarshal string into Go struct field JSONSchemaProps"
    assert f"error parsing step manifest: {misfit}" in status(world)["message"]


def a_referring_plan(digest: str = "", **config_map: object) -> tuple[Manifest, Manifest]:
    """A plan whose step refers to a ConfigMap, and the ConfigMap."""
    plan = a_plan(CSV)
    reference = {
        "kind": "ConfigMap", "name": "h", "namespace": "olm", "catalogSourceName": "local",
        "catalogSourceNamespace": "olm", "digest": digest,
    }  # fmt: skip
    plan["status"]["plan"][0]["resource"]["manifest"] = json.dumps(reference)
    return plan, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "h", "namespace": "olm"}, **config_map}


def test_a_config_map_that_lost_its_content_is_reported() -> None:
    world = carried_out(*a_referring_plan())
    assert "error loading unpacked bundle configmap for ref olm/h: " in status(world)["message"]


def test_a_step_that_its_bundle_does_not_know_is_reported() -> None:
    """catalog.md 4.6: couldn't find unpacked step."""
    other = {**CSV, "metadata": {"name": "b.v1"}, "spec": {"install": {"strategy": "deployment"}}}
    data = {"csv.yaml": json.dumps(other)}
    world = carried_out(*a_referring_plan(digest_in(ConfigMap({"data": data})), data=data))
    assert status(world)["message"].endswith("couldn't find unpacked step for ClusterServiceVersion a.v1")


def test_a_pull_secret_that_is_there_is_left_alone() -> None:
    """catalog.md 4.5: Secret, AlreadyExists, untouched."""
    secret = an_object("Secret", name="s")
    live = {**secret, "metadata": {"name": "s", "namespace": "ns"}, "data": {"a": "b"}}
    world = carried_out(a_plan(secret), live)
    assert (status(world)["phase"], steps(world)) == ("Complete", ["Present"])


def test_a_step_of_an_unknown_status_is_invalid_data() -> None:
    """catalog.md 4.5.3: any other status."""
    plan = a_plan(CSV)
    plan["status"]["plan"][0]["status"] = "NotCreated"
    assert status(carried_out(plan))["message"].endswith(
        "the InstallPlan contains invalid data: ClusterServiceVersion a.v1 cannot be a step of a plan"
    )


def test_a_definition_of_a_version_that_is_gone_names_the_guide() -> None:
    """catalog.md 8.9.105: v1beta1 definitions cannot be created on today's API servers."""
    world = carried_out(a_plan(a_crd("as.example.com") | {"apiVersion": "apiextensions.k8s.io/v1beta1"}))
    assert "GroupVersionKind apiextensions.k8s.io/v1beta1, Kind=CustomResourceDefinition" in status(world)["message"]


def test_other_kinds_do_not_wait_for_an_api() -> None:
    """catalog.md 4.5.3: WaitingForApi of a kind that is no definition counts as done."""
    plan = a_plan(CSV)
    plan["status"]["plan"][0]["status"] = "WaitingForApi"
    assert steps(carried_out(plan)) == ["Present"]


def test_definitions_that_discovery_knows_are_not_asked_for_one_by_one() -> None:
    crd = a_crd("as.example.com", kind="A")
    plan = a_plan(crd)
    plan["status"]["plan"][0]["status"] = "WaitingForApi"
    world = carried_out(plan, served=[Kind("example.com/v1", "A", "as")])
    assert steps(world) == ["Created"]


def test_a_deleted_plan_is_nothing_to_do() -> None:
    world = World()
    assert world.run(Job(STEP, PLAN)).writes == ()


@pytest.mark.parametrize(
    ("resolving", "want"),
    [
        pytest.param(
            "a.v1",
            'warning(s) generated during installation of operator "a.v1" (ServiceAccount "thing")',
            id="of a version",
        ),
        pytest.param("", 'warning(s) generated during operator installation (ServiceAccount "thing")', id="of none"),
    ],
)
def test_each_write_of_a_step_says_how_to_tell_warnings(resolving: str, want: str) -> None:
    """catalog.md 8.10.119 and 4.5.4: AppliedWithWarnings on the plan, with the place of the step."""
    plan = a_plan(CSV, an_object("ServiceAccount"))
    plan["status"]["plan"][1] |= {"resolving": resolving}
    world = World(an_operator_group(), CSV, recorded(plan))
    outcome = world.run(Job(STEP, PLAN))
    [note] = {write.on_warning for write in outcome.writes if isinstance(write, Create)}
    assert note == Record(PLAN, "Warning", "AppliedWithWarnings", want, "status.plan[1]")


def test_a_pull_secret_is_copied_from_the_global_namespace() -> None:
    """catalog.md 4.5: Secret, data and type of that name in the operator namespace; Created, owned by nobody."""
    source = an_object("Secret", name="s", type="kubernetes.io/dockerconfigjson", data={".dockerconfigjson": "e30="})
    source["metadata"] |= {"namespace": "olm", "labels": {"team": "a"}, "annotations": {"a": "b"}}
    world = World(an_operator_group(), CSV, source, a_plan(an_object("Secret", name="s")))
    world.settle()
    copy = world.objects[kinds.SECRET.ref("s", "ns")]
    assert (copy["type"], copy["data"]) == (source["type"], source["data"])
    assert (labels_of(copy), annotations_of(copy)) == ({"olm.managed": "true"}, {})
    assert "ownerReferences" not in metadata(copy)
    assert (steps(world), status(world)["phase"]) == (["Created"], "Complete")


@pytest.mark.parametrize(
    "manifest",
    [
        pytest.param(an_object("ConfigMap", name="x/y"), id="an object with a slash in its name"),
        pytest.param(a_crd("..") | {"metadata": {"name": ".."}}, id="a definition that is called two dots"),
    ],
)
def test_a_step_that_nothing_can_be_called_fails_its_plan_with_a_sentence(manifest: Manifest) -> None:
    world = carried_out(a_plan(manifest))
    name = metadata(manifest)["name"]
    assert steps(world) == ["Unknown"]
    assert f"{manifest['kind']} '{name}': '{name}' is no name of a {manifest['kind']}" in status(world)["message"]
