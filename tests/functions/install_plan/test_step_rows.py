"""Further rows of the contract about the steps of a plan."""

from __future__ import annotations

import pytest

from shared import kinds
from shared.api.manifest import Manifest, annotations_of, labels_of, metadata
from shared.domain.subset import covers
from shared.kinds import Kind, Ref
from tests.functions.install_plan.test_execute_install_plan import (
    CSV,
    PLAN,
    a_plan,
    a_step,
    an_object,
    carried_out,
    status,
    steps,
)
from tests.functions.subscription.world import World, a_crd, an_operator_group

RBAC = "rbac.authorization.k8s.io"
BUDGET = Kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets")
AUTOSCALER = Kind("autoscaling.k8s.io/v1", "VerticalPodAutoscaler", "verticalpodautoscalers")
POLICY = Kind("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies")
PRIORITY = Kind("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", is_namespaced=False)
MONITOR = Kind("monitoring.coreos.com/v1", "ServiceMonitor", "servicemonitors")


@pytest.mark.parametrize(
    ("kind", "field", "new"),
    [
        pytest.param(
            kinds.ROLE,
            "rules",
            [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
            id="catalog.md 4.5: Role",
        ),
        pytest.param(
            kinds.ROLE_BINDING,
            "subjects",
            [{"kind": "User", "apiGroup": RBAC, "name": "b"}],
            id="catalog.md 4.5: RoleBinding",
        ),
        pytest.param(kinds.SERVICE, "spec", {"ports": [{"port": 2}]}, id="catalog.md 4.5: Service"),
        pytest.param(kinds.CONFIG_MAP, "data", {"a": "new"}, id="catalog.md 4.5 and 8.10.122: ConfigMap"),
        pytest.param(kinds.SECRET, "data", {"a": "bmV3"}, id="catalog.md 4.5 and 8.10.122: BundleSecret"),
        pytest.param(BUDGET, "spec", {"minAvailable": 2}, id="catalog.md 4.5 and 8.10.114: PodDisruptionBudget"),
        pytest.param(AUTOSCALER, "spec", {"a": 2}, id="catalog.md 4.5 and 8.10.114: VerticalPodAutoscaler"),
        pytest.param(
            POLICY,
            "spec",
            {"podSelector": {}, "policyTypes": ["Egress"]},
            id="catalog.md 4.5 and 8.10.114: NetworkPolicy",
        ),
        pytest.param(MONITOR, "spec", {"a": 2}, id="catalog.md 4.5 and 8.10.113: ServiceMonitor"),
        pytest.param(PRIORITY, "description", "new", id="catalog.md 4.5 and 8.10.114: PriorityClass"),
    ],
)
def test_what_is_there_is_brought_up_to_date(kind: Kind, field: str, new: object) -> None:
    """AlreadyExists, Present; what others added to its metadata stays."""
    place = {"namespace": "ns"} if kind.is_namespaced else {}
    meta = {"name": "thing", **place, "labels": {"team": "a"}, "annotations": {"by": "hand"}}
    desired = an_object(kind.kind, kind.api_version) | {field: new}
    live: Manifest = {**desired, "metadata": meta, field: type(new)()}
    plan = a_plan(CSV)
    plan["status"]["plan"].append(a_step(desired, kind="BundleSecret" if kind == kinds.SECRET else ""))
    world = carried_out(plan, live, served=[kind])
    found = world.objects[Ref.of(live)]
    assert (steps(world), status(world)["phase"]) == (["Created", "Present"], "Complete")
    assert covers(found[field], new)
    assert labels_of(found).items() >= {"team": "a", "olm.managed": "true"}.items()
    assert annotations_of(found) == {"by": "hand"}


def owning(name: str, *definitions: str, version: str = "1.0.0") -> Manifest:
    owned = {"owned": [{"name": one, "kind": one[0].upper(), "version": "v1"} for one in definitions]}
    spec = {**CSV["spec"], "version": version, "customresourcedefinitions": owned}
    return {**CSV, "metadata": {"name": name, "namespace": "ns"}, "spec": spec}


@pytest.mark.parametrize(
    ("live", "want"),
    [
        pytest.param([], "", id="catalog.md 8.11.125: no owner"),
        pytest.param([owning("b.v1", "bs.example.com")], "", id="catalog.md 8.11.125: only itself"),
        pytest.param([owning("c.v1", "cs.example.com")], "", id="somebody who owns something else"),
        pytest.param(
            [owning("c.v1", "cs.example.com", "ds.example.com")],
            "pre-existing CRD owners found for owned CRD(s) of dependent CSV b.v1",
            id="catalog.md 8.11.125: another owner, also of the second definition",
        ),
        pytest.param(
            [owning("c.v1", "bs.example.com"), owning("d.v1", "bs.example.com")],
            "error checking crd owners for: b.v1: Existing CSVs [c.v1 d.v1] in namespace ns all claim to own CRD "
            "bs.example.com",
            id="catalog.md 8.11.125: two owners, both named",
        ),
    ],
)
def test_a_version_that_its_plan_does_not_name_may_not_compete(live: list[Manifest], want: str) -> None:
    plan = a_plan(owning("b.v1", "bs.example.com", "ds.example.com"))
    world = carried_out(plan, *live)
    assert status(world).get("message", "") == (f"retrying execution due to error: {want}" if want else "")
    named = a_plan(owning("b.v1", "bs.example.com"))
    named["spec"]["clusterServiceVersionNames"] = ["b.v1"]
    assert status(carried_out(named, *live))["phase"] == "Complete", "the resolver has looked at those"


def test_a_group_that_comes_later_lets_the_plan_go_on() -> None:
    """catalog.md 8.9.102: message cleared, plan completes."""
    world = carried_out(a_plan(CSV), groups=0)
    assert status(world)["conditions"][-1]["message"] == "no operator group found that is managing this namespace"
    world.put(an_operator_group())
    world.later(seconds=6)
    assert status(world)["phase"] == "Complete"
    [condition] = [one for one in status(world)["conditions"] if one["type"] == "Installed"]
    assert (condition["status"], condition.get("reason"), condition.get("message")) == ("True", None, None)


def test_a_plan_stops_while_its_approval_is_withdrawn() -> None:
    """catalog.md 4.3.5: OLM does not ask again, so that who may write only the status needs no approval."""
    world = carried_out(a_plan(CSV, approved=False))
    assert (status(world)["phase"], Ref.of(CSV) in world.objects) == ("Installing", False)
    assert status(world)["message"] == "InstallPlan install-abcde waits for approval: set spec.approved to true"
    world.put(world.objects[PLAN] | {"spec": a_plan(CSV)["spec"]})
    world.settle()
    assert (status(world)["phase"], "message" in status(world)) == ("Complete", False)


def test_a_plan_knows_when_it_began() -> None:
    """catalog.md 4.3.5: startTime is set on the first Installing pass and never reset."""
    assert status(carried_out(a_plan(CSV)))["startTime"] == "2026-01-01T00:00:00Z"
    assert status(carried_out(a_plan(CSV, startTime="2025-12-31T23:59:50Z")))["startTime"] == "2025-12-31T23:59:50Z"


NUMBERS = {"type": "number", "minimum": 1, "maximum": 2.5, "multipleOf": 0.1}


def test_numbers_of_a_definition_are_kept() -> None:
    """catalog.md 8.11.140: a CRD with numeric bounds round-trips unchanged."""
    crd = a_crd("bs.example.com")
    crd["spec"]["versions"][0]["schema"] = {"openAPIV3Schema": {"type": "object", "properties": {"a": NUMBERS}}}
    world = carried_out(a_plan(crd))
    assert world.objects[Ref.of(crd)]["spec"]["versions"] == crd["spec"]["versions"]


def test_definitions_are_never_owned_and_never_deleted() -> None:
    """catalog.md 4.8: OLM never deletes CRDs; ownership by several CSVs is allowed."""
    crd = a_crd("bs.example.com")
    world = carried_out(a_plan(CSV, crd))
    world.remove(PLAN)
    world.remove(Ref.of(CSV))
    world.settle()
    assert "ownerReferences" not in metadata(world.objects[Ref.of(crd)])


@pytest.mark.parametrize("verb", ["create", "update"])
def test_a_definition_is_labelled_as_managed(verb: str) -> None:
    """catalog.md 4.8.1 and 1.4: olm.managed on every object of a plan."""
    crd = a_crd("bs.example.com")
    world = carried_out(a_plan(crd), *([crd] if verb == "update" else []))
    assert labels_of(world.objects[Ref.of(crd)])["olm.managed"] == "true"


def test_a_finished_plan_is_not_written_again() -> None:
    """catalog.md 4.3.1 and 8.11.139: after completion the plan object is not written again."""
    world = carried_out(a_plan(CSV))
    world.requests.clear()
    world.receive("io.olmf.resync.requested", PLAN)
    world.settle()
    assert world.requests["write"] == 0


def test_a_deprecated_api_of_an_approved_plan_is_told_even_when_nobody_subscribed() -> None:
    """catalog.md 8.9.105: works for a hand-made plan with an empty clusterServiceVersionNames list."""
    plan = a_plan(an_object("PodDisruptionBudget", "policy/v1beta1"))
    plan["spec"]["clusterServiceVersionNames"] = []
    world = carried_out(plan)
    assert status(world)["message"].startswith(
        "retrying execution due to error: api-server resource not found installing PodDisruptionBudget thing: "
        "GroupVersionKind policy/v1beta1, Kind=PodDisruptionBudget not found on the cluster."
    )
    world.later(seconds=61)
    assert status(world)["phase"] == "Failed"


def test_an_account_that_does_not_exist_stops_every_plan() -> None:
    """catalog.md 4.3.2: nothing is executed with our rights instead."""
    world = World(an_operator_group(serviceAccountName="narrow"), a_plan(CSV))
    world.settle()
    assert "narrow" in status(world)["conditions"][-1]["message"]
    assert Ref.of(CSV) not in world.objects
