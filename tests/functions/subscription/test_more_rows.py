"""Further rows of the contract about Subscriptions, catalogs and unpacking."""

from __future__ import annotations

from datetime import timedelta

import pytest

from eventing.events.job import Job
from shared import kinds, names
from shared.api.manifest import Manifest, metadata, name_of
from shared.domain.catalog.model import Channel, Entry, Package, Property
from shared.kinds import Ref
from shared.ports import Policy
from shared.step import Create
from tests.functions.subscription.test_install import IMAGE, a_world, conditions, installed, status, the, unpacked
from tests.functions.subscription.world import World, a_bundle, a_catalog_source, a_package, a_subscription

pytestmark = pytest.mark.unmeasured

ETCD = kinds.SUBSCRIPTION.ref("etcd", "ns")
CATALOG = kinds.CATALOG_SOURCE.ref("local", "olm")


def edited(world: World, ref: Ref, **spec: object) -> None:
    """Somebody edits the spec, and everything goes as far as it can."""
    world.put({**world.objects[ref], "spec": {**world.objects[ref]["spec"], **spec}})
    unpacked(world)


def publish(world: World, *packages: Package) -> None:
    world.catalogs.publish(IMAGE, *packages)
    world.receive(names.RESYNC_REQUESTED, CATALOG)
    unpacked(world)


def test_a_subscription_may_change_its_package() -> None:
    """catalog.md 3.1 and 8.7.84: a new plan, a new CSV; what is installed must be replaced (resolver.md 5.5)."""
    world = installed(a_subscription())
    vault = a_package("vault", "1.0.0")
    channel = Channel("stable", (Entry("vault.v1.0.0", replaces="etcd.v1.0.0"),))
    publish(world, a_package("etcd", "1.0.0"), Package("vault", "stable", (channel,), vault.bundles))
    edited(world, ETCD, name="vault")
    assert [plan["spec"]["clusterServiceVersionNames"] for plan in the(world, kinds.INSTALL_PLAN)] == [
        ["etcd.v1.0.0"], ["vault.v1.0.0"],
    ]  # fmt: skip
    assert status(world)["installedCSV"] == "vault.v1.0.0"


def test_a_subscription_may_change_its_source() -> None:
    """catalog.md 3.1: editing the source of a live Subscription leads to a new resolution."""
    world = installed(a_subscription())
    world.catalogs.publish("registry/other:v1", a_package("etcd", "1.0.0", "2.0.0"))
    world.put(a_catalog_source("other"))
    world.settle()
    edited(world, ETCD, source="other")
    assert status(world)["installedCSV"] == "etcd.v2.0.0"
    assert {step["resource"]["sourceName"] for step in the(world, kinds.INSTALL_PLAN)[1]["status"]["plan"]} == {"other"}


def test_the_same_decision_made_often_is_one_plan() -> None:
    """catalog.md 8.7.77: ten concurrent calls for the same generation, exactly one plan."""
    world = a_world(a_subscription())
    world.finish_jobs()
    job = Job("subscription/write_install_plan", kinds.NAMESPACE.ref("ns"))
    made = set()
    for _ in range(10):
        made |= {name_of(write.manifest) for write in world.decide(job).writes if isinstance(write, Create)}
    assert len(made) == 1


def test_two_subscriptions_of_one_package_share_a_plan_that_names_the_version_once() -> None:
    """catalog.md 8.7.78 and 8.7.83: listed once; one plan, and one generation for both."""
    world = installed(a_subscription(), a_subscription("again", package="etcd"))
    [plan] = the(world, kinds.INSTALL_PLAN)
    assert plan["spec"]["clusterServiceVersionNames"] == ["etcd.v1.0.0"]
    assert {status(world, one)["installPlanGeneration"] for one in ("etcd", "again")} == {1}
    assert {status(world, one)["state"] for one in ("etcd", "again")} == {"AtLatestKnown"}


def test_a_catalog_may_deprecate_what_is_installed() -> None:
    """catalog.md 8.8.96: conditions appear without upgrade, and nothing is blocked."""
    world = installed(a_subscription(channel="stable"))
    plain = a_package("etcd", "1.0.0")
    texts = {"package": "old", "channel/stable": "older", "bundle/etcd.v1.0.0": "oldest"}
    publish(world, Package("etcd", "stable", plain.channels, plain.bundles, texts))
    assert {kind: message for kind, (_, message) in conditions(world).items()} == {
        "PackageDeprecated": "olm.package/etcd: old",
        "ChannelDeprecated": "olm.channel/stable: older",
        "BundleDeprecated": "olm.bundle/etcd.v1.0.0: oldest",
        "Deprecated": "olm.package/etcd: old; olm.channel/stable: older; olm.bundle/etcd.v1.0.0: oldest",
    }
    assert status(world)["state"] == "AtLatestKnown"
    newer = a_package("etcd", "1.0.0", "2.0.0")
    publish(world, Package("etcd", "stable", newer.channels, newer.bundles, texts))
    assert status(world)["installedCSV"] == "etcd.v2.0.0"
    assert conditions(world)["Deprecated"][1] == "olm.package/etcd: old; olm.channel/stable: older"
    assert "BundleDeprecated" not in conditions(world)


def test_a_retry_interval_set_after_a_success_says_nothing() -> None:
    """catalog.md 8.13.160: the retry annotation set after a success makes no new unpacking conditions."""
    world = installed(a_subscription())
    [group] = the(world, kinds.OPERATOR_GROUP)
    world.put({**group, "metadata": {**metadata(group), "annotations": {names.UNPACK_RETRY_INTERVAL: "1s"}}})
    world.later(minutes=10)
    assert conditions(world) == {}
    assert len(the(world, kinds.JOB, "olm")) == 1


def test_two_catalogs_with_the_same_image_share_the_objects() -> None:
    """catalog.md 5.1: the ConfigMap keeps only the first CatalogSource as owner."""
    world = a_world(a_subscription())
    world.catalogs.publish("registry/other:v1", a_package("etcd", "1.0.0"))
    world.put(a_catalog_source("other"))
    world.settle()
    group = {**the(world, kinds.OPERATOR_GROUP)[0]}
    world.put({**group, "metadata": {"name": "g", "namespace": "more"}, "status": {"namespaces": ["more"]}})
    world.put(a_subscription(namespace="more", source="other"))
    world.settle()
    [config_map] = the(world, kinds.CONFIG_MAP, "olm")
    assert [owner["name"] for owner in metadata(config_map)["ownerReferences"]] == ["local"]
    assert len(the(world, kinds.JOB, "olm")) == 1
    unpacked(world)
    assert world.objects[kinds.SUBSCRIPTION.ref("etcd", "more")]["status"]["installedCSV"] == "etcd.v1.0.0"


def test_what_a_job_left_behind_is_used_again() -> None:
    """catalog.md 5.3: OLM unpacks again when the Job is gone; the content of an image does not change."""
    world = installed(a_subscription())
    world.remove(Ref.of(the(world, kinds.JOB, "olm")[0]))
    for kind, name in ((kinds.SUBSCRIPTION, "etcd"), (kinds.CLUSTER_SERVICE_VERSION, "etcd.v1.0.0")):
        world.remove(kind.ref(name, "ns"))
    world.settle()
    world.put(a_subscription())
    world.settle()
    assert status(world)["installedCSV"] == "etcd.v1.0.0"
    assert the(world, kinds.JOB, "olm") == []


@pytest.mark.measured
def test_a_catalog_that_goes_takes_unapproved_plans_with_it_and_they_say_so() -> None:
    """catalog.md 4.6 and 9.15: deleting the CatalogSource (and its unpack ConfigMaps) breaks plans not yet executed."""
    world = installed(a_subscription(installPlanApproval="Manual"))
    world.remove(CATALOG)
    assert the(world, kinds.CONFIG_MAP, "olm") == []
    world.settle()
    [plan] = the(world, kinds.INSTALL_PLAN)
    world.put({**plan, "spec": {**plan["spec"], "approved": True}})
    world.settle()
    reason, message = conditions(world)["InstallPlanPending"]
    assert reason == "Installing"
    assert "while its catalog exists, it is unpacked again, otherwise delete this plan to get a new one" in message
    assert the(world, kinds.CONFIG_MAP, "olm") == []


@pytest.mark.parametrize("unpack", ["job", "direct"])
def test_a_bundle_that_was_deleted_is_unpacked_again_for_the_plan_that_waits_for_approval(unpack: str) -> None:
    """catalog.md 9.15: in OLM such a plan fails."""
    policy = Policy(unpack=unpack)  # type: ignore[arg-type]  # why: a parameter
    world = installed(a_subscription(installPlanApproval="Manual"), policy=policy)
    for lost in (*the(world, kinds.CONFIG_MAP, "olm"), *the(world, kinds.JOB, "olm")):
        world.remove(Ref.of(lost))
    [plan] = the(world, kinds.INSTALL_PLAN)
    world.put({**plan, "spec": {**plan["spec"], "approved": True}})
    world.settle()
    world.finish_jobs()
    world.later(seconds=5)
    assert (status(world)["state"], status(world)["installedCSV"]) == ("AtLatestKnown", "etcd.v1.0.0")
    assert [name_of(one) for one in the(world, kinds.INSTALL_PLAN)] == [name_of(plan)]


def test_the_catalogs_of_a_subscription_are_listed_with_their_health() -> None:
    """catalog.md 3.5 and 3.3: catalogHealth, in the order of namespace and name, by reference with the uid."""
    world = a_world(a_catalog_source("zoo"), a_catalog_source("own", "ns"), a_subscription())
    unpacked(world)
    listed = status(world)["catalogHealth"]
    named = [(one["catalogSourceRef"]["namespace"], one["catalogSourceRef"]["name"], one["healthy"]) for one in listed]
    assert named == [("ns", "own", False), ("olm", "local", True), ("olm", "zoo", False)]
    assert {"apiVersion", "kind", "namespace", "name", "uid", "resourceVersion"} == set(listed[0]["catalogSourceRef"])
    assert conditions(world)["CatalogSourcesUnhealthy"] == (
        "UnhealthyCatalogSourceFound", "other catalogsources are unhealthy: ns/own, olm/zoo",
    )  # fmt: skip


def test_a_sick_catalog_that_nobody_asked_for_stops_nothing() -> None:
    """catalog.md 2.12 and 9.23: OLM would fail the whole namespace."""
    world = a_world(a_catalog_source("sick"), a_subscription())
    unpacked(world)
    assert status(world)["installedCSV"] == "etcd.v1.0.0"


def test_a_job_has_the_deadline_of_its_namespace_and_no_other() -> None:
    """catalog.md 5.2: a fraction of a second is cut off; the setting counts where nobody says otherwise."""
    world = a_world(groups=0, policy=Policy(unpack_timeout=timedelta(minutes=3)))
    group: Manifest = {
        "apiVersion": kinds.OPERATOR_GROUP.api_version, "kind": "OperatorGroup",
        "metadata": {"name": "g", "namespace": "ns", "annotations": {names.UNPACK_TIMEOUT: "1m1.9s"}},
        "status": {"namespaces": ["ns"]},
    }  # fmt: skip
    world.put(group)
    world.put(a_subscription())
    world.settle()
    assert the(world, kinds.JOB, "olm")[0]["spec"]["activeDeadlineSeconds"] == 61
    world.put({**group, "metadata": {"name": "g", "namespace": "ns"}})
    world.later(seconds=20)
    assert the(world, kinds.JOB, "olm")[0]["spec"]["activeDeadlineSeconds"] == 180


def test_nothing_but_the_version_moves_while_an_upgrade_is_unpacked() -> None:
    """catalog.md 3.7 F and 5.6: in none of these outcomes are state, currentCSV or the plan reference touched."""
    world = installed(a_subscription())
    before = {key: status(world)[key] for key in ("state", "currentCSV", "installedCSV", "installPlanRef")}
    del world.bundles.images["registry/etcd:v2.0.0"]
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0", "2.0.0"))
    world.receive(names.RESYNC_REQUESTED, CATALOG)
    world.settle()
    assert {key: status(world)[key] for key in before} == before
    assert set(conditions(world)) == {"BundleUnpacking"}
    world.finish_jobs()
    world.settle()
    assert {key: status(world)[key] for key in before} == before
    assert set(conditions(world)) == {"BundleUnpackFailed"}
    world.bundles.images["registry/etcd:v2.0.0"] = a_bundle("etcd", "2.0.0")
    world.later(minutes=6)
    unpacked(world)
    assert (status(world)["installedCSV"], conditions(world)) == ("etcd.v2.0.0", {})


def test_a_failure_that_repeats_is_reported_as_an_event_each_time_and_tried_for_ever() -> None:
    """catalog.md 5.6 and 9.14: OLM schedules only the first repetition."""
    world = a_world()
    del world.bundles.images["registry/etcd:v1.0.0"]
    world.put(a_subscription())
    jobs = set()
    for _ in range(3):
        world.settle()
        jobs |= {metadata(job)["uid"] for job in the(world, kinds.JOB, "olm")}
        world.finish_jobs()
        world.settle()
        world.later(minutes=6)
    assert len(jobs) == 3
    assert {event.ref for event in world.events if event.reason == "BundleUnpackFailed"} == {ETCD}


def test_an_api_changes_hands_in_one_plan() -> None:
    """catalog.md 8.7.92: one operator gives up an API and another one takes it, in one upgrade set."""
    api = Property("olm.gvk", {"group": "example.com", "version": "v1", "kind": "K"})

    def offered(name: str, *versions: str, provider: str) -> Package:
        """The package, of which one version provides the API."""
        plain, giving = a_package(name, *versions), a_package(name, *versions, properties=[api])
        bundles = {key: (giving if key == provider else plain).bundles[key] for key in plain.bundles}
        return Package(name, "stable", plain.channels, bundles)

    world = a_world()
    publish(world, offered("etcd", "1.0.0", provider="etcd.v1.0.0"), offered("vault", "1.0.0", provider=""))
    world.put(a_subscription())
    world.put(a_subscription("vault"))
    unpacked(world)
    publish(
        world,
        offered("etcd", "1.0.0", "2.0.0", provider="etcd.v1.0.0"),
        offered("vault", "1.0.0", "2.0.0", provider="vault.v2.0.0"),
    )
    assert the(world, kinds.INSTALL_PLAN)[-1]["spec"]["clusterServiceVersionNames"] == ["etcd.v2.0.0", "vault.v2.0.0"]
    assert [status(world, name)["installedCSV"] for name in ("etcd", "vault")] == ["etcd.v2.0.0", "vault.v2.0.0"]


@pytest.mark.measured
def test_in_namespace_scope_a_refusal_is_told_to_all() -> None:
    """catalog.md 3.7 E and 8.7.67: OLM stamps every Subscription of the namespace."""
    world = a_world(a_subscription(), a_subscription("nothing"), policy=Policy(plan_scope="namespace"))
    unpacked(world)
    reported = [conditions(world, name)["ResolutionFailed"] for name in ("etcd", "nothing")]
    assert reported[0] == reported[1]
    assert reported[0][0] == "ConstraintsNotSatisfiable"
    assert "installedCSV" not in status(world)
