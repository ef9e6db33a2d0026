"""An install from Subscription to Complete plan, through every step of the catalog side."""

from __future__ import annotations

import pytest

from shared import kinds
from shared.api.manifest import Manifest, metadata, name_of
from shared.kinds import Kind
from shared.ports import Policy
from tests.functions.subscription.world import (
    World,
    a_bundle,
    a_catalog_source,
    a_package,
    a_subscription,
    an_operator_group,
)

IMAGE = "registry/local:v1"


def a_world(*more: Manifest, unpack: str = "job") -> World:
    """A catalog that offers etcd 1.0.0, and a namespace with an OperatorGroup."""
    world = World(policy=Policy(unpack=unpack))  # type: ignore[arg-type]  # why: a parameter of the test
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0"))
    for version in ("1.0.0", "2.0.0", "3.0.0"):
        world.bundles.images[f"registry/etcd:v{version}"] = a_bundle("etcd", version)
    for manifest in (a_catalog_source(), an_operator_group(), *more):
        world.put(manifest)
    world.settle()
    return world


def the(world: World, kind: Kind) -> list[Manifest]:
    return list(world.list(kind, "ns"))


def status(world: World, name: str = "etcd") -> Manifest:
    found: Manifest = world.objects[kinds.SUBSCRIPTION.ref(name, "ns")]["status"]
    return found


def condition_types(world: World, name: str = "etcd") -> set[str]:
    return {one["type"] for one in status(world, name)["conditions"] if one["status"] == "True"}


@pytest.mark.parametrize("unpack", ["job", "direct"])
def test_an_automatic_install_goes_from_subscription_to_installed_csv(unpack: str) -> None:
    world = a_world(unpack=unpack)
    world.requests.clear()
    world.put(a_subscription())
    world.settle()
    world.finish_jobs()
    world.settle()
    [plan] = the(world, kinds.INSTALL_PLAN)
    assert plan["status"]["phase"] == "Complete"
    assert {step["status"] for step in plan["status"]["plan"]} == {"Created"}
    said = status(world)
    assert (said["state"], said["installedCSV"], said["currentCSV"]) == ("AtLatestKnown", "etcd.v1.0.0", "etcd.v1.0.0")
    assert condition_types(world) == set()
    print(world.requests)
