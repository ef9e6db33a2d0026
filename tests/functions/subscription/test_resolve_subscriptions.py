"""What is said of Subscriptions that can or cannot be resolved: a namespace in, an Outcome out."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from eventing.events.job import Job
from shared import kinds, names
from shared.api.manifest import Manifest, resource_version_of
from shared.ports import Policy, Unavailable
from shared.step import Code, Emit, Outcome, Record, SetStatus
from tests.functions.subscription.world import World, a_catalog_source, a_package, a_subscription, an_operator_group

NAMESPACE = kinds.NAMESPACE.ref("ns")
ETCD, VAULT = kinds.SUBSCRIPTION.ref("etcd", "ns"), kinds.SUBSCRIPTION.ref("vault", "ns")
MISSING = "no operators found in channel nosuch of package vault in the catalog referenced by subscription vault"
STRANGER = a_subscription("vault", channel="nosuch")


def a_namespace(*subscriptions: Manifest, groups: int = 1, policy: Policy | None = None) -> World:
    """A namespace whose catalog was read, and whose Subscriptions nobody has looked at yet."""
    world = World(policy=policy)
    world.groups = ("catalog_source",)
    world.catalogs.publish("registry/local:v1", a_package("etcd", "1.0.0"), a_package("vault", "1.0.0"))
    for manifest in (a_catalog_source(), *(an_operator_group(name=f"g{number}") for number in range(groups))):
        world.put(manifest)
    world.settle()
    for subscription in subscriptions:
        world.put(subscription)
    return world


def decided(world: World) -> Outcome:
    return world.decide(Job("subscription/resolve_subscriptions", NAMESPACE))


def failures(outcome: Outcome) -> dict[str, Any]:
    """Of each Subscription whose status is written, its condition `ResolutionFailed`."""
    written = [write for write in outcome.writes if isinstance(write, SetStatus)]
    return {
        write.ref.name: one
        for write in written
        for one in write.status["conditions"]
        if one["type"] == "ResolutionFailed"
    }


def test_an_empty_namespace_is_nothing_to_do() -> None:
    outcome = decided(a_namespace())
    assert (outcome.writes, outcome.emits, outcome.again_in, outcome.wait) == ((), (), None, None)


def test_what_can_be_installed_is_told_to_whoever_unpacks_it_and_writes_nothing() -> None:
    outcome = decided(a_namespace(a_subscription()))
    assert (outcome.writes, outcome.emits) == ((), (Emit(names.RESOLUTION_COMPUTED, NAMESPACE),))
    assert [one.code for one in outcome.statements] == [Code.CHOSEN]


def test_what_cannot_be_installed_reports_it_with_the_version_that_was_read_and_in_an_event() -> None:
    world = a_namespace(STRANGER)
    outcome = decided(world)
    status, event = outcome.writes
    assert isinstance(status, SetStatus)
    assert status.resource_version == resource_version_of(world.objects[VAULT])
    condition = failures(outcome)["vault"]
    assert (condition["status"], condition["reason"]) == ("True", "ConstraintsNotSatisfiable")
    assert MISSING in condition["message"]
    assert event == Record(NAMESPACE, "Warning", "ResolutionFailed", condition["message"])
    assert outcome.emits == (), "nothing is to be unpacked"
    assert outcome.wait is not None
    assert (outcome.wait.since, outcome.wait.about) == (world.time, (VAULT,))


def test_a_failure_stays_with_its_own_subscription() -> None:
    outcome = decided(a_namespace(a_subscription(), STRANGER))
    assert list(failures(outcome)) == ["vault"]
    assert outcome.emits == (Emit(names.RESOLUTION_COMPUTED, NAMESPACE),)


def test_the_same_failure_is_not_written_again_and_the_wait_keeps_its_beginning() -> None:
    world = a_namespace(STRANGER)
    began = world.time
    world.run(Job("subscription/resolve_subscriptions", NAMESPACE))
    world.time += timedelta(hours=1)
    outcome = decided(world)
    assert outcome.writes == ()
    assert outcome.wait is not None
    assert outcome.wait.since == began


def test_a_failure_that_is_over_is_taken_back() -> None:
    world = a_namespace(STRANGER)
    world.run(Job("subscription/resolve_subscriptions", NAMESPACE))
    with world.edited(VAULT) as subscription:
        del subscription["spec"]["channel"]
    outcome = decided(world)
    (write,) = outcome.writes
    assert isinstance(write, SetStatus)
    assert not [one for one in write.status.get("conditions", []) if one["type"] == "ResolutionFailed"]
    assert outcome.emits == (Emit(names.RESOLUTION_COMPUTED, NAMESPACE),)


@pytest.mark.parametrize("groups", [0, 2])
def test_without_exactly_one_group_every_subscription_reports_it(groups: int) -> None:
    outcome = decided(a_namespace(a_subscription(), a_subscription("vault"), groups=groups))
    found = failures(outcome)
    assert {one["reason"] for one in found.values()} == {"ErrorPreventedResolution"}
    assert set(found) == {"etcd", "vault"}
    assert len([write for write in outcome.writes if isinstance(write, Record)]) == 1, "one Event says it once"


def test_a_catalog_that_cannot_be_read_now_is_asked_again_soon() -> None:
    world = a_namespace(a_subscription())
    world.catalogs.trouble = Unavailable("Unreachable", "no route")
    outcome = decided(world)
    assert (outcome.again_in, outcome.emits) == (timedelta(seconds=30), ())
    condition = failures(outcome)["etcd"]
    assert condition["message"] == "error using catalogsource olm/local: no route"
