"""Which plans are written for what is unpacked: a namespace in, an Outcome out."""

from __future__ import annotations

from datetime import timedelta

from eventing.events.job import Job
from shared import kinds, names
from shared.api.manifest import Manifest, metadata
from shared.domain.unpack.objects import Unpacking
from shared.ports import Attempt, WriteFailure
from shared.step import NOTHING, Create, Emit, Outcome, SetStatus
from tests.functions.subscription.test_dependencies import KEY
from tests.functions.subscription.test_resolve_subscriptions import ETCD, NAMESPACE, VAULT, a_namespace
from tests.functions.subscription.world import World, a_bundle, a_payload, a_subscription

WRITE = Job("subscription/write_install_plan", NAMESPACE)
MANUAL = a_subscription("vault", installPlanApproval="Manual")


def unpacked(world: World, *packages: str) -> World:
    """The same namespace, in which the bundles of these packages are unpacked."""
    for package in packages:
        image = f"registry/{package}:v1.0.0"
        world.put(Unpacking(image, KEY).config_map(a_payload(image, *a_bundle(package, "1.0.0"))))
    return world


def plans(outcome: Outcome) -> list[Manifest]:
    return [write.manifest for write in outcome.writes if isinstance(write, Create)]


def statuses(outcome: Outcome, kind: str) -> dict[str, Manifest]:
    written = [write for write in outcome.writes if isinstance(write, SetStatus)]
    return {write.ref.name: write.status for write in written if write.ref.kind == kind}


def test_nothing_is_planned_before_it_is_unpacked() -> None:
    assert a_namespace(a_subscription()).decide(WRITE) == NOTHING


def test_a_plan_is_new_and_its_status_and_its_subscription_follow_it() -> None:
    outcome = unpacked(a_namespace(a_subscription()), "etcd").decide(WRITE)
    create, plan_status, subscription_status = outcome.writes
    assert isinstance(create, Create)
    assert create.must_be_new
    spec = create.manifest["spec"]
    assert (spec["clusterServiceVersionNames"], spec["approved"], spec["generation"]) == (["etcd.v1.0.0"], True, 1)
    assert isinstance(plan_status, SetStatus)
    assert plan_status.status["phase"] == "Installing"
    assert isinstance(subscription_status, SetStatus)
    reported = subscription_status.status
    assert (subscription_status.ref, reported["state"], reported["currentCSV"]) == (
        ETCD,
        "UpgradePending",
        "etcd.v1.0.0",
    )
    assert reported["installPlanRef"]["name"] == create.manifest["metadata"]["name"]
    assert (outcome.emits, outcome.summary) == ((), "planned etcd.v1.0.0")


def test_a_plan_for_a_person_waits_and_is_announced() -> None:
    outcome = unpacked(a_namespace(MANUAL), "vault").decide(WRITE)
    (plan,) = plans(outcome)
    assert (plan["spec"]["approved"], plan["spec"]["approval"]) == (False, "Manual")
    place = kinds.INSTALL_PLAN.ref(metadata(plan)["name"], "ns")
    assert statuses(outcome, "InstallPlan")[place.name]["phase"] == "RequiresApproval"
    assert outcome.emits == (Emit(names.PLAN_WAITING, place),)


def test_each_component_has_its_plan_and_one_that_is_not_unpacked_waits_alone() -> None:
    world = a_namespace(a_subscription(), MANUAL)
    assert [one["spec"]["clusterServiceVersionNames"] for one in plans(unpacked(world, "vault").decide(WRITE))] == [
        ["vault.v1.0.0"]
    ]
    both = plans(unpacked(world, "etcd").decide(WRITE))
    assert sorted(one["spec"]["generation"] for one in both) == [1, 2]


def test_a_plan_that_a_killed_run_left_without_status_gets_it() -> None:
    world = unpacked(a_namespace(a_subscription()), "etcd")
    (plan,) = plans(world.decide(WRITE))
    world.put(plan)
    outcome = world.decide(WRITE)
    assert plans(outcome) == []
    assert list(statuses(outcome, "InstallPlan")) == [metadata(plan)["name"]]


def test_a_plan_that_the_server_refuses_is_told_on_its_subscriptions_only() -> None:
    world = unpacked(a_namespace(a_subscription(), MANUAL), "etcd", "vault")
    (refused,) = [one for one in plans(world.decide(WRITE)) if one["spec"]["approval"] == "Automatic"]
    failure = WriteFailure("invalid", "too large", 0, kinds.INSTALL_PLAN.ref(metadata(refused)["name"], "ns"))
    outcome = world.decide(WRITE, Attempt(2, failure))
    assert [one["spec"]["approval"] for one in plans(outcome)] == ["Manual"], "the other plan goes on"
    reported = statuses(outcome, "Subscription")
    assert set(reported) == {ETCD.name, VAULT.name}
    assert "too large" in str(reported[ETCD.name]["conditions"])
    assert "too large" not in str(reported[VAULT.name].get("conditions"))
    assert outcome.again_in == timedelta(seconds=30)
    assert outcome.wait is not None
    assert ETCD in outcome.wait.about
