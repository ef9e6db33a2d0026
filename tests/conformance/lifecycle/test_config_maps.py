"""Catalogs in ConfigMaps: from a ConfigMap to an operator, and what follows its changes (catalog.md §2.3-2, 2.6)."""

from __future__ import annotations

import json
from typing import Any

from shared.api.manifest import Manifest
from shared.api.views import CatalogSource
from shared.kinds import CATALOG_SOURCE, CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, DEPLOYMENT, INSTALL_PLAN, SUBSCRIPTION
from tests.kit.installation import Installation, a_subscription, an_operator_group

KETTLES = "kettles.kitchen.example.com"


def a_definition() -> Manifest:
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": KETTLES},
        "spec": {
            "group": "kitchen.example.com", "scope": "Namespaced", "names": {"plural": "kettles", "kind": "Kettle"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }  # fmt: skip


def a_version(version: str, replaces: str = "") -> Manifest:
    labels = {"app": "kettle"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "quay.io/acme/kettle:1"}]}}
    deployment = {"name": "kettle", "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": pod}}
    modes = ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")
    return {
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
        "metadata": {"name": f"kettle.v{version}"},
        "spec": {
            "displayName": "Kettle", "version": version, **({"replaces": replaces} if replaces else {}),
            "customresourcedefinitions": {"owned": [{"name": KETTLES, "version": "v1", "kind": "Kettle"}]},
            "install": {"strategy": "deployment", "spec": {"deployments": [deployment]}},
            "installModes": [{"type": mode, "supported": True} for mode in modes],
        },
    }  # fmt: skip


def a_config_map(namespace: str, *versions: Manifest) -> Manifest:
    """The catalog whose only channel leads to the last of the versions."""
    head = versions[-1]["metadata"]["name"]
    package = {"packageName": "kettle", "channels": [{"name": "alpha", "currentCSV": head}]}
    lists = {"customResourceDefinitions": [a_definition()], "clusterServiceVersions": versions, "packages": [package]}
    data = {key: json.dumps(value) for key, value in lists.items()}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "kitchen", "namespace": namespace},
        "data": data,
    }


def a_catalog(namespace: str, kind: str = "internal") -> Manifest:
    return {
        "apiVersion": CATALOG_SOURCE.api_version, "kind": "CatalogSource",
        "metadata": {"name": "kitchen", "namespace": namespace}, "spec": {"sourceType": kind, "configMap": "kitchen"},
    }  # fmt: skip


def is_ready(source: Any) -> bool:
    return bool(source["status"]["connectionState"]["lastObservedState"] == "READY")


def test_an_operator_of_a_config_map_is_installed_and_updated(installation: Installation, namespace: str) -> None:
    """catalog.md 8.1 rows 4, 7, 15; 3.7: bundles whose manifests are in the catalog."""
    first, second = a_version("1.0.0"), a_version("1.1.0", "kettle.v1.0.0")
    installation.apply(a_config_map(namespace, first), a_catalog(namespace))
    ref, content = CATALOG_SOURCE.ref("kitchen", namespace), CONFIG_MAP.ref("kitchen", namespace)
    source = installation.until(ref, is_ready, "READY")
    config_map = installation.cluster.get(content)
    assert config_map is not None
    assert [one["uid"] for one in config_map["metadata"]["ownerReferences"]] == [source["metadata"]["uid"]]
    named = source["status"]["configMapReference"]
    assert (named["name"], named["namespace"], named["uid"]) == ("kitchen", namespace, config_map["metadata"]["uid"])
    subscription = a_subscription("kettle", namespace, source="kitchen", sourceNamespace=namespace, channel="alpha")
    installation.apply(an_operator_group(namespace, targets=(namespace,)), subscription)
    installation.until_phase("kettle.v1.0.0", namespace)
    assert installation.cluster.get(DEPLOYMENT.ref("kettle", namespace))
    assert installation.cluster.get(CUSTOM_RESOURCE_DEFINITION.ref(KETTLES))
    assert "kettle.v1.0.0" in installation.olmf("versions", "kettle", "-n", namespace).stdout
    assert installation.olmf("resolve", "-n", namespace).returncode == 0
    [plan] = installation.cluster.list(INSTALL_PLAN, namespace)
    kinds = {step["resource"]["kind"] for step in plan["status"]["plan"]}
    assert {"ClusterServiceVersion", "CustomResourceDefinition"} <= kinds
    installation.apply(a_config_map(namespace, first, second))
    installation.until_phase("kettle.v1.1.0", namespace)
    sub = installation.until(
        SUBSCRIPTION.ref("kettle", namespace), lambda each: each["status"]["installedCSV"] == "kettle.v1.1.0"
    )
    assert sub["status"]["state"] == "AtLatestKnown"


def test_a_config_map_that_comes_late_or_again(installation: Installation, namespace: str) -> None:
    """catalog.md 8.1 rows 6, 13, 16."""
    ref, content = CATALOG_SOURCE.ref("kitchen", namespace), CONFIG_MAP.ref("kitchen", namespace)
    installation.apply(a_catalog(namespace, "configmap"))
    reported = installation.until(ref, lambda each: each["status"]["reason"] == "ConfigMapError", "ConfigMapError")
    assert reported["status"]["message"] == 'failed to get catalog config map kitchen: configmaps "kitchen" not found'
    installation.apply(a_config_map(namespace, a_version("1.0.0")))
    before = installation.until(ref, is_ready, "READY")["status"]["configMapReference"]["uid"]
    installation.cluster.delete(content)
    installation.until(ref, lambda each: each["status"]["reason"] == "ConfigMapError", "ConfigMapError")
    installation.apply(a_config_map(namespace, a_version("2.0.0")))
    again = installation.until(ref, lambda each: is_ready(each) and not each["status"].get("reason"), "READY")
    assert again["status"]["configMapReference"]["uid"] != before


def test_a_config_map_that_is_no_catalog(installation: Installation, namespace: str) -> None:
    """The last good content stays in use, and the catalog says what is wrong."""
    ref = CATALOG_SOURCE.ref("kitchen", namespace)
    installation.apply(a_config_map(namespace, a_version("1.0.0")), a_catalog(namespace))
    good = CatalogSource(installation.until(ref, is_ready, "READY")).content
    installation.apply({**a_config_map(namespace, a_version("1.0.0")), "data": {"packages": "{ not yaml"}})
    reported = installation.until(ref, lambda each: "holds no catalog" in each["status"]["message"], "a reason")
    assert CatalogSource(reported).content == good != ""
