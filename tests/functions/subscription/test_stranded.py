"""A Subscription whose channel leads nowhere from what is installed."""

from __future__ import annotations

from shared import kinds, names
from shared.domain.catalog.model import Channel, Entry, Package
from tests.functions.subscription.test_install import IMAGE, conditions, installed, status
from tests.functions.subscription.world import World, a_package, a_subscription

END = "1.0.0 is not in channel new, and nothing there replaces it; the head 3.0.0 cannot be reached from it"


def followed(world: World, channel: str) -> None:
    subscription = world.objects[kinds.SUBSCRIPTION.ref("etcd", "ns")]
    world.put({**subscription, "spec": {**subscription["spec"], "channel": channel}})
    world.settle()


def test_a_channel_that_leads_nowhere_is_reported_until_another_one_is_followed() -> None:
    world = installed(a_subscription(channel="stable"))
    known = a_package("etcd", "1.0.0", "2.0.0", "3.0.0")
    channels = (Channel("stable", (Entry("etcd.v1.0.0"),)), Channel("new", (Entry("etcd.v3.0.0"),)))
    world.catalogs.publish(IMAGE, Package("etcd", "stable", channels, known.bundles))
    world.receive(names.RESYNC_REQUESTED, kinds.CATALOG_SOURCE.ref("local", "olm"))
    followed(world, "new")
    reported = f"{END} (it is only in channel stable)"
    assert conditions(world) == {"Stranded": ("NotInChannel", reported)}
    assert (status(world)["state"], status(world)["installedCSV"]) == ("AtLatestKnown", "etcd.v1.0.0")
    followed(world, "stable")
    assert conditions(world) == {}
