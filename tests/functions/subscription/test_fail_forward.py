"""Past an InstallPlan that failed before its version came to be, where the OperatorGroup fails forward."""

from __future__ import annotations

import pytest

from shared import kinds, names
from shared.api.manifest import Manifest, metadata
from shared.domain.catalog.model import Channel, Entry, Package
from shared.ports import WriteFailure
from tests.functions.subscription.test_install import IMAGE, a_world, conditions, status, the, unpacked
from tests.functions.subscription.world import World, a_bundle, a_package, a_subscription
from tests.kit.kept import kept

pytestmark = pytest.mark.unmeasured

FORWARD = "TechPreviewUnsafeFailForward"


def strategy(world: World, desired: str) -> None:
    """Somebody edits the OperatorGroup."""
    [group] = the(world, kinds.OPERATOR_GROUP)
    world.put({**group, "spec": {"upgradeStrategy": desired}})
    world.settle()


def published(world: World, package: Package) -> None:
    world.catalogs.publish(IMAGE, package)
    for version in ("2.0.0", "3.0.0", "4.0.0"):
        world.bundles.images[f"registry/etcd:v{version}"] = a_bundle("etcd", version)
    world.receive(names.RESYNC_REQUESTED, kinds.CATALOG_SOURCE.ref("local", "olm"))
    unpacked(world)


def with_head(*versions: str, **entry: object) -> Package:
    """A package whose head has more in its entry than what it replaces."""
    plain = a_package("etcd", *versions)
    head = Entry(f"etcd.v{versions[-1]}", **entry)  # type: ignore[arg-type]  # why: fields by name
    return Package("etcd", "stable", (Channel("stable", (head, *plain.channels[0].entries[1:])),), plain.bundles)


def refuse(world: World, *versions: str) -> None:
    """The server takes no ClusterServiceVersion of these versions."""
    for version in versions:
        csv = kinds.CLUSTER_SERVICE_VERSION.ref(f"etcd.v{version}", "ns")
        world.refused[csv] = WriteFailure("invalid", "no", 0, csv)


@kept
def failed(desired: str = FORWARD) -> World:
    """etcd 1.0.0 is installed, and the plan of 2.0.0 has failed."""
    world = a_world(a_subscription())
    unpacked(world)
    strategy(world, desired)
    refuse(world, "2.0.0")
    published(world, a_package("etcd", "1.0.0", "2.0.0"))
    world.later(seconds=61)
    unpacked(world)
    return world


def reported(world: World) -> tuple[str, str, str]:
    return status(world)["state"], status(world)["installedCSV"], status(world)["currentCSV"]


def test_a_failed_plan_is_an_upgrade_that_failed() -> None:
    """catalog.md 3.7 C.2 and 3.10: UpgradePending becomes UpgradeFailed; without the strategy it stays."""
    assert reported(failed()) == ("UpgradeFailed", "etcd.v1.0.0", "etcd.v2.0.0")
    assert reported(failed("Default")) == ("UpgradePending", "etcd.v1.0.0", "etcd.v2.0.0")
    assert conditions(failed())["InstallPlanFailed"][0] == "InstallComponentFailed"


def test_a_failed_plan_says_how_to_get_a_newer_version_without_the_strategy() -> None:
    """catalog.md 3.10: UpgradePending, and resolved again when the plan is deleted."""
    world = failed("Default")
    published(world, with_head("1.0.0", "2.0.0", "3.0.0", replaces="etcd.v1.0.0", skips=("etcd.v2.0.0",)))
    plan = max(the(world, kinds.INSTALL_PLAN), key=lambda one: int(one["spec"]["generation"]))
    assert reported(world) == ("UpgradePending", "etcd.v1.0.0", "etcd.v2.0.0")
    reason, message = conditions(world)["Blocked"]
    assert reason == "InstallPlanFailed"
    assert message.endswith(f"kubectl delete installplan {metadata(plan)['name']} -n ns")

    world.remove(kinds.INSTALL_PLAN.ref(metadata(plan)["name"], "ns"))
    unpacked(world)

    assert reported(world) == ("AtLatestKnown", "etcd.v3.0.0", "etcd.v3.0.0")
    assert conditions(world) == {}


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param({"replaces": "etcd.v1.0.0", "skips": ("etcd.v2.0.0",)}, id="catalog.md 8.9.106: skips"),
        pytest.param({"replaces": "etcd.v2.0.0", "skip_range": ">=1.0.0 <3.0.0"}, id="catalog.md 8.9.106: skipRange"),
    ],
)
def test_a_newer_version_passes_the_failed_one(entry: dict[str, object]) -> None:
    world = failed()
    published(world, with_head("1.0.0", "2.0.0", "3.0.0", **entry))
    assert reported(world) == ("AtLatestKnown", "etcd.v3.0.0", "etcd.v3.0.0")
    assert conditions(world) == {}
    assert [plan["status"]["phase"] for plan in the(world, kinds.INSTALL_PLAN)] == ["Complete", "Failed", "Complete"]
    assert status(world)["installPlanGeneration"] == 3


def test_after_several_bad_versions_a_good_one_comes_through() -> None:
    """catalog.md 8.9.106: after several bad versions it recovers."""
    world = failed()
    refuse(world, "3.0.0")
    published(world, with_head("1.0.0", "2.0.0", "3.0.0", replaces="etcd.v2.0.0", skip_range=">=1.0.0 <3.0.0"))
    world.later(seconds=61)
    assert reported(world) == ("UpgradeFailed", "etcd.v1.0.0", "etcd.v3.0.0")
    published(world, with_head("1.0.0", "2.0.0", "3.0.0", "4.0.0", replaces="etcd.v3.0.0", skip_range=">=1.0.0 <4.0.0"))
    assert reported(world) == ("AtLatestKnown", "etcd.v4.0.0", "etcd.v4.0.0")


def test_a_version_that_only_replaces_the_failed_one_does_not_pass_it() -> None:
    """catalog.md 8.9.106 and resolver.md 92: the bad currentCSV and the same failed plan are kept."""
    world = failed()
    before = [metadata(plan)["uid"] for plan in the(world, kinds.INSTALL_PLAN)]
    published(world, a_package("etcd", "1.0.0", "2.0.0", "3.0.0"))
    assert reported(world) == ("UpgradeFailed", "etcd.v1.0.0", "etcd.v2.0.0")
    assert [metadata(plan)["uid"] for plan in the(world, kinds.INSTALL_PLAN)] == before


def test_a_first_install_that_failed_is_passed_by_any_newer_head() -> None:
    """resolver.md 5.1: nothing is installed, so the Subscription is treated as a fresh one."""
    world = a_world()
    strategy(world, FORWARD)
    refuse(world, "1.0.0")
    world.put(a_subscription())
    unpacked(world)
    world.later(seconds=61)
    assert (status(world)["state"], status(world)["currentCSV"]) == ("UpgradeFailed", "etcd.v1.0.0")
    published(world, a_package("etcd", "1.0.0", "2.0.0"))
    assert reported(world) == ("AtLatestKnown", "etcd.v2.0.0", "etcd.v2.0.0")


@pytest.mark.measured
def test_the_strategy_may_come_later_and_may_go() -> None:
    """catalog.md 1.7: spec.upgradeStrategy is read from the group as it is; its change is a trigger by itself."""
    world = failed("Default")
    published(world, with_head("1.0.0", "2.0.0", "3.0.0", replaces="etcd.v2.0.0"))
    strategy(world, FORWARD)
    assert reported(world)[0] == "UpgradeFailed"
    strategy(world, "Default")
    assert reported(world)[0] == "UpgradePending"
    published(world, with_head("1.0.0", "2.0.0", "3.0.0", replaces="etcd.v2.0.0", skip_range=">=1.0.0 <3.0.0"))
    assert reported(world)[1] == "etcd.v1.0.0", "a failed plan blocks"
    strategy(world, FORWARD)
    unpacked(world)
    assert reported(world) == ("AtLatestKnown", "etcd.v3.0.0", "etcd.v3.0.0")


def test_a_failed_plan_that_is_deleted_is_forgotten() -> None:
    """catalog.md 3.6: the plan is missing, so the next resolution makes a fresh one."""
    world = failed()
    world.refused.clear()
    world.remove(kinds.INSTALL_PLAN.ref(metadata(the(world, kinds.INSTALL_PLAN)[-1])["name"], "ns"))
    unpacked(world)
    assert reported(world) == ("AtLatestKnown", "etcd.v2.0.0", "etcd.v2.0.0")


def test_at_rest_a_failed_upgrade_writes_nothing() -> None:
    world = failed()
    world.requests.clear()
    for ref in list(world.objects):
        world.receive(names.DEPENDENT_CHANGED, ref)
    world.settle()
    assert world.requests["write"] == 0


def test_two_groups_fail_nothing_forward() -> None:
    """catalog.md 1.7: exactly one OperatorGroup is needed for fail-forward."""
    world = failed("Default")
    [group] = the(world, kinds.OPERATOR_GROUP)
    other: Manifest = {**group, "metadata": {"name": "other", "namespace": "ns"}}
    world.put({**other, "spec": {"upgradeStrategy": FORWARD}})
    world.settle()
    assert reported(world)[0] == "UpgradePending"
