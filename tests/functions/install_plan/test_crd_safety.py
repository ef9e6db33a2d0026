"""What a plan does to what is stored: told before anything is written, by each object that would become invalid."""

from __future__ import annotations

from typing import Any

from shared import kinds
from shared.api.manifest import Manifest
from shared.domain.objects.install_plan import CRD_SAFE
from shared.domain.plan.sentences import MOST_NAMED
from shared.kinds import Kind
from shared.ports import Policy
from tests.functions.install_plan.test_execute_install_plan import (
    CSV,
    PLAN,
    TOO_SMALL,
    a_plan,
    a_scaled_crd,
    an_object,
    status,
)
from tests.functions.install_plan.test_scoped_plans import ACCOUNT, CSVS, GROUP, may, may_everywhere
from tests.functions.subscription.world import World, an_operator_group
from tests.kit.plans import recorded

SERVED = [Kind("example.com/v1", "A", "as")]
CSV_REF = kinds.CLUSTER_SERVICE_VERSION.ref("a.v1", "ns")
OLD = a_scaled_crd(type="integer", minimum=1)
STRICT = a_scaled_crd(type="integer", minimum=3)


def stored(*scalars: int) -> list[Manifest]:
    found = []
    for number, scalar in enumerate(scalars):
        one = an_object("A", "example.com/v1", "one" if not number else f"one-{number:03}", spec={"scalar": scalar})
        one["metadata"]["namespace"] = "ns"
        found.append(one)
    return found


def world_of(plan: Manifest, *objects: Manifest, policy: Policy | None = None, **more: Any) -> World:
    world = World(an_operator_group(**more), *objects, recorded(plan), served=SERVED, policy=policy or Policy())
    world.settle()
    return world


def condition(world: World) -> Manifest:
    [found] = [one for one in status(world)["conditions"] if one["type"] == CRD_SAFE]
    return dict(found)


def waiting(*definitions: Manifest) -> Manifest:
    return a_plan(CSV, *definitions, approved=False, phase="RequiresApproval")


def test_a_plan_that_waits_says_beforehand_what_would_become_invalid_and_where() -> None:
    """Issue 15 §1.5: evaluated when the plan is composed, each object named with path and reason."""
    world = world_of(waiting(STRICT), OLD, *stored(2, 1, 5))
    found = condition(world)
    assert (found["status"], found["reason"]) == ("False", "ObjectsBecomeInvalid")
    second = 'example.com/v1, Kind=A "ns/one-001": [].spec.scalar: Invalid value: 1: spec.scalar in body should be '
    assert found["message"] == f"{TOO_SMALL}; besides: {second}greater than or equal to 3"
    assert [event.reason for event in world.events] == ["ObjectsBecomeInvalid"]
    assert status(world)["phase"] == "RequiresApproval"


def test_what_was_mended_meanwhile_is_told_and_written_once() -> None:
    world = world_of(waiting(STRICT), OLD, *stored(2))
    written = world.requests["write"]
    world.later(seconds=300)
    assert world.requests["write"] == written, "nothing has changed"
    world.put({**stored(4)[0], "spec": {"scalar": 4}})
    world.later(seconds=301)
    assert (condition(world)["status"], condition(world)["reason"]) == ("True", "NothingIsLost")
    assert "as.example.com" in condition(world)["message"]
    assert CSV_REF not in world.objects


def test_nothing_is_written_while_what_is_stored_would_be_lost() -> None:
    """catalog.md 4.10 and 8.11.135: OLM leaves the version behind, and its Subscription claims success."""
    lost = a_scaled_crd(type="integer", minimum=1)
    lost["status"] = {"storedVersions": ["v1", "v1alpha1"]}
    world = world_of(a_plan(CSV, a_scaled_crd(type="integer", minimum=0)), lost)
    assert condition(world)["reason"] == "StoredVersionRemoved"
    world.later(seconds=61)
    assert status(world)["phase"] == "Failed"
    assert "risk of data loss updating" in status(world)["conditions"][-1]["message"]
    assert CSV_REF not in world.objects


def test_an_approval_counts_only_for_what_is_safe_then() -> None:
    """The check is made again when the plan is executed: an object may have come after it."""
    world = world_of(waiting(STRICT), OLD, *stored(4))
    assert condition(world)["status"] == "True"
    world.put({**stored(4)[0], "spec": {"scalar": 2}})
    approved = world.objects[PLAN]
    approved["spec"]["approved"] = True
    world.put(approved)
    world.settle()
    assert status(world)["message"] == f"retrying execution due to error: {TOO_SMALL}"
    assert CSV_REF not in world.objects
    world.put({**stored(4)[0], "spec": {"scalar": 3}})
    world.later(seconds=6)
    assert status(world)["phase"] == "Complete"


def test_only_so_many_objects_are_named() -> None:
    world = world_of(waiting(STRICT), OLD, *stored(*[2] * (MOST_NAMED + 4)))
    assert condition(world)["message"].endswith("; 3 more")
    assert condition(world)["message"].count("Invalid value") == MOST_NAMED + 1


def test_with_a_conversion_webhook_every_object_is_told_and_nothing_stops() -> None:
    """catalog.md 8.11.142."""
    new = a_scaled_crd(type="integer", minimum=3)
    new["spec"]["conversion"] = {
        "strategy": "Webhook",
        "webhook": {
            "conversionReviewVersions": ["v1"],
            "clientConfig": {"service": {"name": "s", "namespace": "ns"}},
        },
    }
    world = world_of(a_plan(CSV, new), OLD, *stored(2, 1))
    assert (status(world)["phase"], condition(world)["status"]) == ("Complete", "True")
    [event] = world.events
    assert (event.reason, "ns/one-001" in event.message) == ("CRDValidation", True)


def test_each_definition_when_its_turn_comes_as_in_olm() -> None:
    """`OLMF_CRD_SAFETY=step`, catalog.md 8.11.128: the version is created, then the plan fails."""
    world = world_of(a_plan(CSV, STRICT), OLD, *stored(2), policy=Policy(crd_safety="step"))
    world.later(seconds=61)
    assert (status(world)["phase"], status(world)["message"]) == ("Failed", TOO_SMALL)
    assert CSV_REF in world.objects
    assert condition(world)["status"] == "False"


def test_an_account_that_may_not_look_is_told_before_anything_is_written() -> None:
    """The objects are those of another namespace's operator: nothing is known of them, so nothing is begun."""
    theirs = a_scaled_crd(type="integer", minimum=1)
    theirs["metadata"]["annotations"] = {"operatorframework.io/installed-alongside-1": "other/etcd.v1"}
    world = World(GROUP, theirs, ACCOUNT, *may(CSVS), *stored(2), waiting(STRICT), served=SERVED)
    world.settle()
    assert (condition(world)["status"], condition(world)["reason"]) == ("Unknown", "NotAllowedToLook")
    assert 'cannot list resource "as" in API group "example.com"' in condition(world)["message"]
    for manifest in may_everywhere(("example.com", "as", ("list",))):
        world.put(manifest)
    world.later(seconds=301)
    assert condition(world)["status"] == "False"


def test_a_plan_that_changes_no_definition_says_nothing_of_it() -> None:
    world = world_of(a_plan(CSV, OLD), OLD, *stored(2))
    assert status(world)["phase"] == "Complete"
    assert [one["type"] for one in status(world)["conditions"] if one["type"] == CRD_SAFE] == []


def a_converting(definition: Manifest, *, authority: str = "") -> Manifest:
    client = {"service": {"name": "s", "namespace": "ns"}, **({"caBundle": authority} if authority else {})}
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": client}
    return {**definition, "spec": {**definition["spec"], "conversion": {"strategy": "Webhook", "webhook": webhook}}}


def test_what_an_operator_added_to_its_definition_is_no_change_of_it() -> None:
    """What would be written counts: the conversion that works is kept, whatever the bundle states."""
    world = world_of(waiting(OLD), a_converting(OLD, authority="Q0E="), *stored(2))
    assert [one["type"] for one in status(world)["conditions"] if one["type"] == CRD_SAFE] == []


def test_each_of_two_editions_of_a_definition_is_judged() -> None:
    """A run was killed behind the first one: that equals what is there, and says nothing of the other."""
    there = {**OLD, "status": {"storedVersions": ["v1", "v1alpha1"]}}
    there["spec"] = {**OLD["spec"], "versions": [*OLD["spec"]["versions"], an_older(OLD)]}
    same = {key: value for key, value in there.items() if key != "status"}
    world = world_of(a_plan(CSV, same, STRICT), there)
    assert condition(world)["reason"] == "StoredVersionRemoved"
    assert (CSV_REF in world.objects, status(world)["phase"]) == (False, "Installing")


def an_older(definition: Manifest) -> Manifest:
    (version,) = definition["spec"]["versions"]
    return {**version, "name": "v1alpha1", "storage": False}


def test_what_forbade_a_plan_is_forgotten_when_it_changes_nothing_any_more() -> None:
    world = world_of(waiting(STRICT), OLD, *stored(2))
    assert condition(world)["status"] == "False"
    world.put(STRICT)
    world.later(seconds=301)
    assert [one["type"] for one in status(world)["conditions"] if one["type"] == CRD_SAFE] == []


def test_a_definition_that_two_bundles_change_is_named_once() -> None:
    world = world_of(waiting(STRICT, a_scaled_crd(type="integer", minimum=2)), OLD, *stored(4))
    assert condition(world)["message"] == "what is stored fits, and no stored version goes: as.example.com"


def test_a_definition_whose_schema_no_server_reads_is_told_beforehand() -> None:
    world = world_of(waiting(a_scaled_crd(minimum="3")), OLD)
    assert condition(world)["reason"] == "DefinitionMalformed"
    assert "error parsing step manifest: json: cannot unmarshal string" in condition(world)["message"]
