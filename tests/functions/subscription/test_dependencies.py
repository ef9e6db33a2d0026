"""A plan that brings what its operator needs, with a Subscription of its own."""

from __future__ import annotations

import json

import pytest

from shared import kinds, names
from shared.api.manifest import Manifest, annotations_of, labels_of, metadata, name_of
from shared.api.views import Subscription
from shared.domain.bundle.model import UnpackedBundle
from shared.domain.catalog.model import Property
from shared.domain.plan import compose, dependencies
from shared.domain.plan.compose import Draft
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import Catalog, Chosen
from shared.domain.unpack.objects import Unpacking
from tests.functions.subscription.test_install import IMAGE, a_world, approve, conditions, status, the, unpacked
from tests.functions.subscription.world import World, a_bundle, a_package, a_payload, a_subscription

pytestmark = pytest.mark.unmeasured

KEY = CatalogKey("olm", "local")
VAULT = "vault-stable-local-olm"


def chosen(package: str, *subscribers: str) -> Chosen:
    bundle = a_package(package, "1.0.0").bundles[f"{package}.v1.0.0"]
    return Chosen(bundle, package, "stable", Catalog(KEY), "", subscribers)


def a_draft(*all_chosen: Chosen) -> Draft:
    made = [(one, a_bundle(one.package, "1.0.0")) for one in all_chosen]
    return Draft(
        [Subscription(a_subscription())],
        [(one, UnpackedBundle(objects[0], objects)) for one, objects in made],
        False,
        1,
    )


def brought() -> World:
    """The world after a plan with etcd for its Subscription, and vault for nobody's, was written."""
    world = a_world()
    draft = a_draft(chosen("etcd", "etcd"), chosen("vault"))
    for one, _ in draft.bundles:
        place = Unpacking(one.bundle.image, KEY)
        world.put(place.config_map(a_payload(one.bundle.image, *a_bundle(one.package, "1.0.0"))))
    plan = {**compose.manifest(draft), "status": compose.status(draft)}
    spec, references = a_subscription()["spec"], {"installPlanRef": {"name": draft.name, "namespace": "ns"}}
    reported = {"state": "UpgradePending", "currentCSV": "etcd.v1.0.0", **references, "lastUpdated": ""}
    world.put({**a_subscription(), "spec": spec, "status": reported})
    world.put(plan)
    world.settle()
    return world


def test_a_plan_subscribes_to_what_nobody_asked_for() -> None:
    """catalog.md 8.7.72, 8.10.121 and 3.3: both names, the Subscription step, in the order of the resolver."""
    draft = a_draft(chosen("etcd", "etcd"), chosen("vault"))
    assert compose.manifest(draft)["spec"]["clusterServiceVersionNames"] == ["etcd.v1.0.0", "vault.v1.0.0"]
    first, *others = compose.status(draft)["plan"]
    resource = first["resource"]
    assert (first["resolving"], resource["kind"], resource["name"]) == ("vault.v1.0.0", "Subscription", VAULT)
    assert (resource["sourceName"], resource["sourceNamespace"]) == ("local", "olm")
    assert json.loads(resource["manifest"])["spec"] == {
        "source": "local", "sourceNamespace": "olm", "name": "vault", "channel": "stable",
        "startingCSV": "vault.v1.0.0", "installPlanApproval": "Automatic",
    }  # fmt: skip
    assert [step["resolving"] for step in others] == ["etcd.v1.0.0"] * 7 + ["vault.v1.0.0"] * 7


@pytest.mark.measured
@pytest.mark.parametrize(
    ("package", "want"),
    [
        pytest.param("vault", VAULT, id="package, channel, catalog and its namespace"),
        pytest.param("Vault_", "vault--stable-local-olm-8ec16ec5", id="characters that no name may have"),
        pytest.param("v" * 300, f"{'v' * 244}-ebd084f5", id="longer than a name may be"),
    ],
)
def test_the_name_of_a_generated_subscription_is_one_that_the_server_takes(package: str, want: str) -> None:
    """resolver.md 10.5 and B19: OLM's may be refused."""
    assert name_of(dependencies.subscription(chosen(package), "ns")) == want


def test_a_dependency_arrives_with_its_subscription_and_one_plan() -> None:
    """catalog.md 3.7 C.1: the generated Subscription follows the plan that made it, and is not resolved again."""
    world = brought()
    made = world.objects[kinds.SUBSCRIPTION.ref(VAULT, "ns")]
    [plan] = the(world, kinds.INSTALL_PLAN)
    assert plan["status"]["phase"] == "Complete"
    assert annotations_of(made)[names.GENERATED_BY] == name_of(plan)
    assert labels_of(made)[names.MANAGED] == "true"
    assert "ownerReferences" not in metadata(made)
    reported = status(world, VAULT)
    assert (reported["state"], reported["installedCSV"], reported["currentCSV"]) == (
        "AtLatestKnown", "vault.v1.0.0", "vault.v1.0.0",
    )  # fmt: skip
    assert reported["installPlanRef"]["uid"] == metadata(plan)["uid"]
    assert (conditions(world, VAULT), status(world)["state"]) == ({}, "AtLatestKnown")


VAULT_API = {"group": "example.com", "version": "v1", "kind": "Vault"}
NEEDS, GIVES = Property("olm.gvk.required", VAULT_API), Property("olm.gvk", VAULT_API)


@pytest.mark.measured
@pytest.mark.parametrize("approval", ["Automatic", "Manual"])
def test_what_is_needed_is_chosen_planned_and_subscribed_to(approval: str) -> None:
    """catalog.md 8.7.72 and 8.7.85: one plan with both, and a Subscription for the dependency."""
    world = a_world()
    etcd, vault = a_package("etcd", "1.0.0", properties=[NEEDS]), a_package("vault", "1.0.0", properties=[GIVES])
    world.catalogs.publish(IMAGE, etcd, vault)
    world.receive(names.RESYNC_REQUESTED, kinds.CATALOG_SOURCE.ref("local", "olm"))
    world.put(a_subscription(installPlanApproval=approval))
    unpacked(world)
    [plan] = the(world, kinds.INSTALL_PLAN)
    assert sorted(plan["spec"]["clusterServiceVersionNames"]) == ["etcd.v1.0.0", "vault.v1.0.0"]
    assert (kinds.SUBSCRIPTION.ref(VAULT, "ns") in world.objects) is (approval == "Automatic")
    approve(world)
    unpacked(world)
    assert [name_of(one) for one in the(world, kinds.INSTALL_PLAN)] == [name_of(plan)]
    assert [(status(world, name)["state"], conditions(world, name)) for name in ("etcd", VAULT)] == [
        ("AtLatestKnown", {}), ("AtLatestKnown", {}),
    ]  # fmt: skip


def test_a_dependency_upgrades_like_any_other() -> None:
    world = brought()
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0"), a_package("vault", "1.0.0", "2.0.0"))
    world.receive(names.RESYNC_REQUESTED, kinds.CATALOG_SOURCE.ref("local", "olm"))
    unpacked(world)
    assert status(world, VAULT)["installedCSV"] == "vault.v2.0.0"
    world.remove(kinds.SUBSCRIPTION.ref("etcd", "ns"))
    world.settle()
    assert kinds.SUBSCRIPTION.ref(VAULT, "ns") in world.objects, "catalog.md 3.3: it survives its parent"


def a_generated(**spec: str) -> Manifest:
    made = a_subscription("vault", **spec)
    return {**made, "metadata": {**metadata(made), "annotations": {names.GENERATED_BY: "install-gone"}}}


@pytest.mark.parametrize(
    "generated",
    [a_generated(startingCSV="vault.v1.0.0"), a_generated()],
    ids=["with startingCSV", "without startingCSV"],
)
def test_a_generated_subscription_whose_plan_is_gone_is_resolved_anew(generated: Manifest) -> None:
    """catalog.md 8.7.90: OLM never resolves such a namespace again."""
    world = a_world(generated, a_subscription())
    unpacked(world)
    assert status(world, "vault")["installedCSV"] == "vault.v1.0.0"
    assert status(world)["installedCSV"] == "etcd.v1.0.0"
