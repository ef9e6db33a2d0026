"""A Subscription whose channel leads nowhere from what is installed."""

from __future__ import annotations

from shared import kinds, names
from shared.domain.catalog.model import Channel, Entry, Package
from tests.functions.subscription.test_dependencies import GIVES, NEEDS
from tests.functions.subscription.test_install import IMAGE, conditions, installed, status, unpacked
from tests.functions.subscription.world import World, a_package, a_subscription

END = "1.0.0 is not in channel new, and nothing there replaces it; the head 3.0.0 cannot be reached from it"


PASSED = "etcd.v1.0.0 is installed, and etcd.v2.0.0, which would replace it, cannot be installed now"


def published(world: World, *packages: Package) -> None:
    world.catalogs.publish(IMAGE, *packages)
    world.receive(names.RESYNC_REQUESTED, kinds.CATALOG_SOURCE.ref("local", "olm"))
    world.settle()


def followed(world: World, channel: str) -> None:
    subscription = world.objects[kinds.SUBSCRIPTION.ref("etcd", "ns")]
    world.put({**subscription, "spec": {**subscription["spec"], "channel": channel}})
    world.settle()


def test_a_channel_that_leads_nowhere_is_reported_until_another_one_is_followed() -> None:
    world = installed(a_subscription(channel="stable"))
    known = a_package("etcd", "1.0.0", "2.0.0", "3.0.0")
    channels = (Channel("stable", (Entry("etcd.v1.0.0"),)), Channel("new", (Entry("etcd.v3.0.0"),)))
    published(world, Package("etcd", "stable", channels, known.bundles))
    followed(world, "new")
    reported = f"{END} (it is only in channel stable)"
    assert conditions(world) == {"Stranded": ("NotInChannel", reported)}
    assert (status(world)["state"], status(world)["installedCSV"]) == ("AtLatestKnown", "etcd.v1.0.0")
    followed(world, "stable")
    assert conditions(world) == {}


def test_a_newer_version_that_cannot_be_installed_is_reported_until_it_can() -> None:
    world = installed(a_subscription())
    newer = a_package("etcd", "1.0.0", "2.0.0", properties=[NEEDS])
    published(world, newer)
    assert conditions(world) == {"Stranded": ("NotInstallable", PASSED)}
    published(world, newer, a_package("vault", "1.0.0", properties=[GIVES]))
    unpacked(world)
    assert (conditions(world), status(world)["installedCSV"]) == ({}, "etcd.v2.0.0")
