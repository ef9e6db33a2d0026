"""Bundles without an image: their manifests are in the catalog, an image or a server (catalog.md 4.6; fbc.md 4.6)."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from shared.api.manifest import Manifest
from shared.kinds import CATALOG_SOURCE, CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, DEPLOYMENT, INSTALL_PLAN, SUBSCRIPTION
from tests.conformance.lifecycle.test_addresses import a_registry_pod
from tests.conformance.lifecycle.test_bad_input import a_catalog_image_of
from tests.conformance.lifecycle.test_config_maps import KETTLES, a_definition, a_version
from tests.kit.image_registry import ScriptedRegistry, scripted_registry
from tests.kit.installation import Installation, a_subscription, an_operator_group

PLAN_BYTES = 64 * 1024
"""More than a plan of references takes, and far less than the manifests of a large bundle."""


@pytest.fixture(scope="module")
def registry() -> Iterator[ScriptedRegistry]:
    with scripted_registry() as served:
        yield served


def a_catalog(*bundles: Sequence[Manifest]) -> list[Manifest]:
    """One channel of these bundles, each by its manifests, the ClusterServiceVersion first."""
    entries = [_entry(bundle[0]) for bundle in bundles]
    return [
        {"schema": "olm.package", "name": "kettle", "defaultChannel": "alpha"},
        {"schema": "olm.channel", "package": "kettle", "name": "alpha", "entries": entries},
        *(_document(bundle) for bundle in bundles),
    ]


def _entry(version: Manifest) -> Manifest:
    replaced = version["spec"].get("replaces")
    return {"name": version["metadata"]["name"], **({"replaces": replaced} if replaced else {})}


def _document(bundle: Sequence[Manifest]) -> Manifest:
    version = bundle[0]
    package = {"packageName": "kettle", "version": version["spec"]["version"]}
    api = {"group": "kitchen.example.com", "kind": "Kettle", "version": "v1"}
    texts = (base64.b64encode(json.dumps(each).encode()).decode() for each in bundle)
    objects = [{"type": "olm.bundle.object", "value": {"data": text}} for text in texts]
    return {
        "schema": "olm.bundle", "package": "kettle", "name": version["metadata"]["name"], "image": "",
        "properties": [{"type": "olm.package", "value": package}, {"type": "olm.gvk", "value": api}, *objects],
    }  # fmt: skip


def a_large_definition(kibibytes: int) -> Manifest:
    """A definition whose description is that large, and hardly becomes smaller when it is compressed."""
    definition: Manifest = a_definition()
    text = Random(7).randbytes(kibibytes * 512).hex()
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] = text
    return definition


def a_source(namespace: str, **spec: Any) -> Manifest:
    meta = {"name": "kitchen", "namespace": namespace}
    source = {"sourceType": "grpc", **spec}
    return {"apiVersion": CATALOG_SOURCE.api_version, "kind": "CatalogSource", "metadata": meta, "spec": source}


def subscribe(installation: Installation, namespace: str) -> None:
    subscription = a_subscription("kettle", namespace, source="kitchen", sourceNamespace=namespace, channel="alpha")
    installation.apply(an_operator_group(namespace, targets=(namespace,)), subscription)


def the_plan(installation: Installation, namespace: str) -> Manifest:
    [plan] = installation.cluster.list(INSTALL_PLAN, namespace)
    return plan


def test_an_image_whose_bundles_have_no_images_installs_and_updates(
    installation: Installation, namespace: str, registry: ScriptedRegistry
) -> None:
    """fbc.md 4.6, catalog.md 4.6: the plan holds references to a ConfigMap of ours, as for any other bundle."""
    first, second = a_version("1.0.0"), a_version("1.1.0", "kettle.v1.0.0")
    image = a_catalog_image_of(registry, "catalogs/inline", a_catalog((first, a_definition())))
    installation.apply(a_source(namespace, image=image))
    subscribe(installation, namespace)
    installation.until_phase("kettle.v1.0.0", namespace)
    assert installation.cluster.get(DEPLOYMENT.ref("kettle", namespace))
    assert installation.cluster.get(CUSTOM_RESOURCE_DEFINITION.ref(KETTLES))
    plan = the_plan(installation, namespace)
    [reference] = {step["resource"]["manifest"] for step in plan["status"]["plan"]}
    named = json.loads(reference)
    assert (named["kind"], named["catalogSourceName"]) == ("ConfigMap", "kitchen")
    assert installation.cluster.get(CONFIG_MAP.ref(named["name"], named["namespace"]))
    both = a_catalog((first, a_definition()), (second, a_definition()))
    newer = a_catalog_image_of(registry, "catalogs/inline-newer", both)
    installation.apply(a_source(namespace, image=newer))
    installation.until_phase("kettle.v1.1.0", namespace)
    ref = SUBSCRIPTION.ref("kettle", namespace)
    installation.until(ref, lambda each: each["status"]["state"] == "AtLatestKnown", "AtLatestKnown")


def test_a_server_whose_bundles_have_no_images(installation: Installation, namespace: str, tmp_path: Path) -> None:
    """catalog.md 2.5: the manifests come with the bundle (`csvJson`, `object`) over the registry API."""
    with a_registry_pod(tmp_path / "served", a_catalog((a_version("1.0.0"), a_definition()))) as address:
        installation.apply(a_source(namespace, address=address))
        subscribe(installation, namespace)
        installation.until_phase("kettle.v1.0.0", namespace)
    assert installation.cluster.get(CUSTOM_RESOURCE_DEFINITION.ref(KETTLES))


def test_a_large_bundle_makes_a_small_plan(
    installation: Installation, namespace: str, registry: ScriptedRegistry
) -> None:
    """OLM writes the manifests into the plan, which becomes larger than what the API server takes."""
    bundle = (a_version("1.0.0"), a_large_definition(900))
    image = a_catalog_image_of(registry, "catalogs/large", a_catalog(bundle))
    installation.apply(a_source(namespace, image=image))
    subscribe(installation, namespace)
    installation.until_phase("kettle.v1.0.0", namespace)
    assert len(json.dumps(the_plan(installation, namespace))) < PLAN_BYTES


def test_a_bundle_that_is_too_large_is_reported(
    installation: Installation, namespace: str, registry: ScriptedRegistry
) -> None:
    """A ConfigMap has room for 1 MiB: what does not fit, compressed, is told with its size, and no plan is made."""
    bundle = (a_version("1.0.0"), a_large_definition(4096))
    image = a_catalog_image_of(registry, "catalogs/too-large", a_catalog(bundle))
    installation.apply(a_source(namespace, image=image))
    subscribe(installation, namespace)
    reported = installation.until_condition("kettle", namespace, "BundleUnpackFailed")
    assert reported["message"].startswith("Bundle unpacking failed - TooLarge: catalog:kettle/kettle.v1.0.0@")
    assert "bundle files exceeded 1048576 bytes limit" in reported["message"]
    assert "kubectl get jobs" not in reported["message"], "there is no Job to delete"
    assert not installation.cluster.list(INSTALL_PLAN, namespace)
