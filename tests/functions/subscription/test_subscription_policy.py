"""What Subscriptions and groups ask for by annotations of ours, all the way to plans and conditions."""

from __future__ import annotations

import pytest

from shared import kinds, names
from shared.api.manifest import Manifest, metadata
from shared.kinds import Ref
from shared.ports import Policy
from tests.functions.subscription.test_install import (
    IMAGE,
    a_copy,
    a_world,
    conditions,
    installed,
    status,
    the,
    unpacked,
)
from tests.functions.subscription.world import World, a_catalog_source, a_package, a_subscription

pytestmark = pytest.mark.unmeasured

CATALOG = kinds.CATALOG_SOURCE.ref("local", "olm")


def annotated(manifest: Manifest, annotation: str, value: str) -> Manifest:
    return {**manifest, "metadata": {**metadata(manifest), "annotations": {annotation: value}}}


def annotate(world: World, ref: Ref, annotation: str, value: str) -> None:
    world.put(annotated(world.objects[ref], annotation, value))
    unpacked(world)


def published(world: World, *versions: str) -> None:
    world.catalogs.publish(IMAGE, a_package("etcd", *versions))
    world.receive(names.RESYNC_REQUESTED, CATALOG)
    unpacked(world)


def withdrawn(world: World) -> None:
    """The image is gone from its registry; what was read of it is still here."""
    del world.catalogs.digests[IMAGE]
    world.receive(names.RESYNC_REQUESTED, CATALOG)
    world.settle()


def test_a_ceiling_holds_until_it_is_raised() -> None:
    world = a_world(annotated(a_subscription(), names.VERSION, "<3.0.0"))
    for versions in (("1.0.0",), ("1.0.0", "2.0.0"), ("1.0.0", "2.0.0", "3.0.0")):
        published(world, *versions)
    assert status(world)["installedCSV"] == "etcd.v2.0.0"
    assert conditions(world) == {"Pinned": ("PinnedByAnnotation", "pinned to <3.0.0; etcd.v3.0.0 is there")}
    annotate(world, kinds.SUBSCRIPTION.ref("etcd", "ns"), names.VERSION, "<4.0.0")
    assert status(world)["installedCSV"] == "etcd.v3.0.0"
    assert conditions(world) == {}


def test_what_would_help_is_told_anew_when_a_copy_arrives() -> None:
    world = a_world(annotated(a_subscription(), names.VERSION, "7.0.0"))
    fix = "fix: let Subscription etcd do without olmf.io/version"
    assert fix in conditions(world)["ResolutionFailed"][1]
    world.put(a_copy())
    world.settle()
    assert fix not in conditions(world)["ResolutionFailed"][1], "that would install what the copy stands in the way of"


def test_a_pin_on_nothing_is_reported_and_goes_away_with_the_annotation() -> None:
    world = a_world(annotated(a_subscription(), names.VERSION, "7.0.0"))
    reason, message = conditions(world)["ResolutionFailed"]
    assert reason == "ConstraintsNotSatisfiable"
    assert "Subscription etcd accepts only 7.0.0 (annotation olmf.io/version)" in message
    assert "fix: let Subscription etcd do without olmf.io/version" in message
    annotate(world, kinds.SUBSCRIPTION.ref("etcd", "ns"), names.VERSION, "")
    assert conditions(world) == {}
    assert status(world)["installedCSV"] == "etcd.v1.0.0"


def test_a_hold_keeps_out_what_is_not_installed_and_reports_it() -> None:
    world = installed(annotated(a_subscription(), names.HOLD, "not yet"), a_subscription("vault"))
    assert "installedCSV" not in status(world)
    assert conditions(world)["Held"] == ("HeldByAnnotation", "nothing yet is held: not yet")
    assert status(world, "vault")["installedCSV"] == "vault.v1.0.0"


def test_what_is_to_be_held_is_installed_first() -> None:
    world = installed(annotated(a_subscription(), names.HOLD_INSTALLED, "as tested"))
    published(world, "1.0.0", "2.0.0")
    assert status(world)["installedCSV"] == "etcd.v1.0.0"
    assert conditions(world)["Held"] == ("HeldByAnnotation", "etcd.v1.0.0 is held: as tested")


def test_a_catalog_that_was_never_read_stops_only_a_strict_namespace() -> None:
    """resolver.md 12 row 206: OLM stops."""
    world = a_world(a_catalog_source("sick"), a_subscription())
    unpacked(world)
    assert status(world)["installedCSV"] == "etcd.v1.0.0"
    published(world, "1.0.0", "2.0.0")
    assert status(world)["installedCSV"] == "etcd.v2.0.0"
    annotate(world, Ref.of(the(world, kinds.OPERATOR_GROUP)[0]), names.CATALOG_POLICY, "strict")
    published(world, "1.0.0", "2.0.0", "3.0.0")
    assert status(world)["installedCSV"] == "etcd.v2.0.0"
    assert conditions(world)["ResolutionFailed"][0] == "ErrorPreventedResolution"


@pytest.mark.parametrize("policy", ["strict", "available"])
def test_the_last_good_snapshot_counts_unless_the_installation_is_strict(policy: str) -> None:
    world = installed(a_subscription(), policy=Policy(catalog_policy=policy))  # type: ignore[arg-type]  # why: both
    withdrawn(world)
    found = conditions(world).get("ResolutionFailed")
    why = f"error using catalogsource olm/local: couldn't connect to registry - {IMAGE}: no such image"
    assert found == (("ErrorPreventedResolution", why) if policy == "strict" else None)
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0"))
    world.later(minutes=1)
    assert conditions(world) == {}


def test_the_word_of_the_group_counts_more_than_that_of_the_installation() -> None:
    world = installed(a_subscription(), policy=Policy(catalog_policy="strict"))
    annotate(world, Ref.of(the(world, kinds.OPERATOR_GROUP)[0]), names.CATALOG_POLICY, "available")
    withdrawn(world)
    assert "ResolutionFailed" not in conditions(world)
    annotate(world, Ref.of(the(world, kinds.OPERATOR_GROUP)[0]), names.CATALOG_POLICY, "loose")
    assert "'loose': wanted available or strict" in conditions(world)["ResolutionFailed"][1]
