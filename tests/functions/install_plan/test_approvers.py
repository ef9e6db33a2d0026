"""Who approved a plan: a person, where a policy checks the name that the plan has, else a client as it calls itself."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from eventing.events.job import Job
from shared import names
from shared.api.manifest import Manifest, annotations_of, metadata, timestamp
from shared.domain.authors.approval import APPROVALS
from shared.errors import RetryLater
from shared.ports import Accounts, Denied
from tests.functions.install_plan.test_author_bound import Admitted
from tests.functions.install_plan.test_execute_install_plan import CSV, PLAN, STEP, a_plan, status
from tests.functions.subscription.world import World, an_operator_group
from tests.kit.plans import recorded
from tests.kit.world import NOW

CLIENT = "olmf-approve (Update) at 2026-01-01T00:00:00Z"
MANAGER = {
    "manager": "olmf-approve", "operation": "Update", "time": "2026-01-01T00:00:00Z",
    "fieldsV1": {"f:spec": {"f:approved": {}}},
}  # fmt: skip
CHECKED = f"alice, whose name the policy {APPROVALS.name} checked, with {CLIENT}"


def an_approved_plan(made: str = timestamp(NOW), **annotations: str) -> Manifest:
    """A plan of ours that waited, and has been approved."""
    plan = a_plan(CSV)
    plan["status"]["phase"] = "RequiresApproval"
    meta = {**metadata(plan), "annotations": annotations, "managedFields": [MANAGER], "creationTimestamp": made}
    return recorded({**plan, "metadata": meta})


def world_of(plan: Manifest, **admitted: Any) -> World:
    world = World(an_operator_group())
    world.ports[Accounts] = Admitted(world, checks=APPROVALS, **admitted)
    world.put(plan)
    world.settle()
    return world


def told(world: World) -> str:
    """What the plan says of its approval."""
    [message] = [one["message"] for one in status(world)["conditions"] if one["type"] == "Approved"]
    digest = annotations_of(world.objects[PLAN])[names.PLAN_CONTENT]
    assert message.startswith("spec.approved was set by ")
    assert message.endswith(f", for {digest}")
    return str(message.removeprefix("spec.approved was set by ").removesuffix(f", for {digest}"))


def test_a_person_is_named_whose_name_was_checked() -> None:
    plan = an_approved_plan(**{names.APPROVED_BY: "alice"})
    world = world_of(plan)
    assert told(world) == CHECKED
    assert status(world)["phase"] == "Complete"
    world.put(plan)
    assert world.decide(Job(STEP, PLAN)).summary.endswith(f", approved by {CHECKED}")


POLICY, BINDING = APPROVALS.manifests()
EXISTS = f"{APPROVALS.name} does not exist"


@pytest.mark.parametrize(
    ("changed", "made", "why"),
    [
        pytest.param({APPROVALS.policy: None}, NOW, f"ValidatingAdmissionPolicy {EXISTS}", id="no policy"),
        pytest.param({APPROVALS.binding: Denied("no")}, NOW, f"ValidatingAdmissionPolicyBinding {EXISTS}",
                     id="a binding that we may not read"),
        pytest.param({APPROVALS.policy: {**POLICY, "metadata": {"generation": 2}}}, NOW,
                     f"ValidatingAdmissionPolicy {APPROVALS.name} was changed since it was made, or is of another "
                     "release", id="it was loosened for a while"),
        pytest.param({}, NOW - timedelta(minutes=59, seconds=30),
                     f"it was created before the policy {APPROVALS.name} was in force for a minute",
                     id="a plan from before, which anybody may have approved in any name"),
    ],
)  # fmt: skip
def test_a_name_that_nobody_checked_is_told_as_such_and_the_plan_is_carried_out(
    changed: Any, made: Any, why: str
) -> None:
    world = world_of(an_approved_plan(timestamp(made), **{names.APPROVED_BY: "alice"}), changed=changed)
    assert told(world) == f"{CLIENT}, with the name 'alice', which nobody checked ({why})"
    assert status(world)["phase"] == "Complete"


def test_a_policy_that_rests_checks_nothing() -> None:
    world = World(an_operator_group())
    admitted = world.ports[Accounts] = Admitted(world, checks=APPROVALS)
    admitted.is_enforced = False
    world.put(an_approved_plan(**{names.APPROVED_BY: "alice"}))
    world.settle()
    assert told(world).endswith(f"which nobody checked (ValidatingAdmissionPolicy {APPROVALS.name} is not in force)")


class Untouched(Admitted):
    """The accounts of a cluster where nobody asks about policies."""

    def refusal(self, manifest: Manifest, account: Any) -> Denied | None:
        assert metadata(manifest)["name"] != self.checks.name
        return super().refusal(manifest, account)


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param(an_approved_plan(), id="it names nobody"),
        pytest.param({**a_plan(CSV), "metadata": {**metadata(a_plan(CSV)), "annotations": {names.APPROVED_BY: "x"}}},
                     id="it is under way"),
    ],
)  # fmt: skip
def test_nothing_is_asked_of_a_plan_that_names_nobody_or_has_begun(plan: Manifest) -> None:
    world = World(an_operator_group())
    world.ports[Accounts] = Untouched(world, checks=APPROVALS)
    world.put(recorded(plan))
    world.settle()
    assert status(world)["phase"] == "Complete"


def test_a_plan_that_names_nobody_names_the_client() -> None:
    assert told(world_of(an_approved_plan())) == CLIENT


def test_a_client_whose_name_is_a_sentence_is_quoted() -> None:
    plan, forged = an_approved_plan(), CHECKED.partition(" (")[0]
    plan["metadata"]["managedFields"] = [{**MANAGER, "manager": forged}]
    assert told(world_of(plan)) == f"{forged!r} (Update) at 2026-01-01T00:00:00Z"


def test_nobody_is_asked_who_approved_what_nobody_may_carry_out() -> None:
    """Each new attempt would ask again."""
    named, unnamed = requests_while_blocked(**{names.APPROVED_BY: "alice"}), requests_while_blocked()
    assert named == unnamed


def requests_while_blocked(**annotations: str) -> int:
    """How much is read about an approved plan in a namespace with two OperatorGroups."""
    world = World(an_operator_group(), an_operator_group(name="second"), an_approved_plan(**annotations))
    world.ports[Accounts] = admitted = Admitted(world, checks=APPROVALS)
    admitted.stored.clear()
    with pytest.raises(RetryLater, match="more than one operator group"):
        world.decide(Job(STEP, PLAN))
    return world.api.requests_made


@pytest.mark.parametrize("part", ["spec", "status"])
def test_what_somebody_approved_is_not_carried_out_once_it_is_something_else(part: str) -> None:
    """The approver's name stays on the plan; it holds for the digest beside it and for nothing else."""
    plan = an_approved_plan(**{names.APPROVED_BY: "alice"})
    steps = [{**step, "resource": {**step["resource"], "name": "other"}} for step in plan["status"]["plan"]]
    edits: dict[str, Manifest] = {"spec": {"clusterServiceVersionNames": ["other.v1"]}, "status": {"plan": steps}}
    world = world_of({**plan, part: {**plan[part], **edits[part]}})
    reasons = {one["type"]: one.get("reason") for one in status(world)["conditions"]}
    assert (reasons["Installed"], reasons.get("Approved")) == ("ContentChanged", None)
    assert [ref for ref in world.objects if ref.kind == "ClusterServiceVersion"] == []


def test_who_approves_again_what_was_withdrawn_is_told_instead_of_the_first_one() -> None:
    world = World(an_operator_group())
    world.ports[Accounts] = Admitted(world, checks=APPROVALS)
    begun = {"type": "Approved", "status": "True", "reason": "SpecApproved", "message": "spec.approved was set by bob"}
    plan = an_approved_plan(**{names.APPROVED_BY: "alice"})
    conditions = [*plan["status"]["conditions"], begun, {"type": "Installed", "status": "False"}]
    plan["status"] |= {"phase": "Installing", "conditions": conditions}
    world.put({**plan, "spec": {**plan["spec"], "approved": False}})
    world.settle()
    stored = world.objects[PLAN]
    shown = [(one["type"], one["status"]) for one in stored["status"]["conditions"]]
    assert shown == [("Resolved", "True"), ("Approved", "False"), ("Installed", "False")]
    world.put({**stored, "spec": plan["spec"]})
    world.settle()
    assert told(world) == CHECKED
    assert status(world)["phase"] == "Complete"
