"""Bundles that cannot be rolled out, and clusters that stand in their way: each stops itself alone, and says why."""

from __future__ import annotations

from typing import Any

import pytest

from shared.api.manifest import Manifest
from shared.kinds import CLUSTER_EXTENSION, CUSTOM_RESOURCE_DEFINITION, DEPLOYMENT
from shared.ports import WriteFailure
from tests.functions.cluster_extension.world import (
    PLACE,
    World,
    a_bundle,
    a_config_map,
    a_world,
    an_extension,
    installed,
)
from tests.functions.subscription.world import a_crd, a_package

pytestmark = pytest.mark.unmeasured

DEFINITION = CUSTOM_RESOURCE_DEFINITION.ref("etcds.example.com")
CONTROLLER = DEPLOYMENT.ref("etcd-controller", PLACE)
OTHER = CLUSTER_EXTENSION.ref("other")


def progressing(world: World, **which: Any) -> tuple[str, str]:
    return world.conditions(**which)["Progressing"][1:]


def with_webhook(bundle: tuple[Manifest, ...]) -> tuple[Manifest, ...]:
    """The bundle with a webhook, for which somebody has to make certificates."""
    rule = {"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["etcds"]}
    webhook = {
        "type": "ValidatingAdmissionWebhook", "generateName": "v.example.com", "deploymentName": "etcd-controller",
        "admissionReviewVersions": ["v1"], "sideEffects": "None", "webhookPath": "/v", "containerPort": 443,
        "failurePolicy": "Fail", "rules": [rule],
    }  # fmt: skip
    csv, *others = bundle
    return ({**csv, "spec": {**csv["spec"], "webhookdefinitions": [webhook]}}, *others)


GAUGE = {"apiVersion": "example.org/v1", "kind": "Gauge", "metadata": {"name": "a"}}


@pytest.mark.measured
@pytest.mark.parametrize(
    ("bundle", "why"),
    [
        (a_bundle("etcd", "1.0.0", *(a_config_map("x", a=one) for one in "bc")), "duplicate object found in phases"),
        (a_bundle("etcd", "1.0.0", GAUGE), 'unsupported resource "a" with kind "Gauge"'),
        (with_webhook(a_bundle("etcd", "1.0.0")), "webhookDefinitions are not supported"),
        (a_bundle("etcd", "1.0.0", a_config_map("x", a="a" * 1_500_000)), "may not be more than 1048576 bytes"),
    ],
    ids=["two of one name", "a kind that no bundle may have", "webhooks without certificates", "1.4 MiB"],
)
def test_what_is_wrong_with_a_bundle_is_reported(bundle: tuple[Manifest, ...], why: str) -> None:
    world = a_world()
    world.bundles.images["registry/etcd:v1.0.0"] = bundle
    world.settle()
    world.runs()
    reason, message = progressing(world)
    assert (reason, why in message) == ("Retrying", True), message
    assert CONTROLLER not in world.objects
    world.requests.clear()
    world.later(seconds=8)
    assert world.requests["write"] == 0


def test_two_extensions_that_want_one_definition() -> None:
    world = installed()
    csv, *others = a_bundle("other", "1.0.0")
    owned = csv["spec"]["customresourcedefinitions"]["owned"]
    owned.append({"name": DEFINITION.name, "kind": "Etcd", "version": "v1"})
    world.bundles.images["registry/other:v1.0.0"] = (csv, *others, a_crd(DEFINITION.name))
    world.publish(a_package("etcd", "1.0.0"), a_package("other", "1.0.0"), image="registry/c:v2")
    before = world.objects[DEFINITION]
    world.put(an_extension("other", "other"))
    world.settle()
    world.runs()
    assert "Conflicting Owner: ClusterObjectSet etcd-1" in progressing(world, ref=OTHER)[1]
    assert world.objects[DEFINITION] == before
    assert progressing(world)[0] == "Succeeded"


def test_a_definition_that_a_classic_operator_has() -> None:
    world = a_world()
    world.put(a_crd(DEFINITION.name))
    world.settle()
    world.runs()
    assert f"/{DEFINITION.name}\n" in progressing(world)[1]
    assert progressing(world)[0] == "Retrying"
    assert CONTROLLER not in world.objects


def test_permissions_that_are_lost_in_the_middle_of_a_roll_out() -> None:
    world = a_world()
    world.refused[CONTROLLER] = WriteFailure("forbidden", "you may not", 0, CONTROLLER)
    world.settle()
    assert progressing(world) == ("Retrying", f"revision reconcile: {CONTROLLER}: you may not")
    world.refused.clear()
    world.later(seconds=11)
    world.runs()
    assert progressing(world)[0] == "Succeeded"
