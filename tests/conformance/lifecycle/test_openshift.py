"""What an OpenShift has besides: its proxy reaches operators, and it learns which of them keep it from an upgrade."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from shared.api.manifest import Manifest
from shared.kinds import (
    CLUSTER_OPERATOR,
    CLUSTER_SERVICE_VERSION,
    CLUSTER_VERSION,
    CUSTOM_RESOURCE_DEFINITION,
    DEPLOYMENT,
    PROXY,
    Kind,
)
from tests.conformance.lifecycle.test_install import subscribe
from tests.kit.installation import Installation, condition

SERVED = (PROXY, CLUSTER_VERSION, CLUSTER_OPERATOR)
LIMIT = '{"properties":[{"type":"olm.maxOpenShiftVersion","value":"4.18"}]}'
OURS = CLUSTER_OPERATOR.ref("operator-lifecycle-manager")


def a_definition(kind: Kind) -> Manifest:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version: dict[str, Any] = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    if kind == CLUSTER_OPERATOR:
        version["subresources"] = {"status": {}}
    names = {"kind": kind.kind, "plural": kind.plural, "singular": kind.kind.lower(), "listKind": f"{kind.kind}List"}
    return {
        "apiVersion": CUSTOM_RESOURCE_DEFINITION.api_version, "kind": CUSTOM_RESOURCE_DEFINITION.kind,
        "metadata": {
            "name": kind.definition,
            "annotations": {"api-approved.kubernetes.io": "https://github.com/openshift/api/pull/470"},
        },
        "spec": {"group": kind.group, "scope": "Cluster", "names": names, "versions": [version]},
    }  # fmt: skip


def an_object(kind: Kind, name: str, **status: object) -> Manifest:
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}, "status": status}


@pytest.fixture
def openshift(installation: Installation) -> Iterator[Installation]:
    """The installation on a cluster that serves the kinds of OpenShift, until the test is over."""
    refs = [CUSTOM_RESOURCE_DEFINITION.ref(kind.definition) for kind in SERVED]
    installation.apply(*map(a_definition, SERVED))
    for ref in refs:
        installation.until(ref, lambda one: condition(one, "Established").get("status") == "True")
    yield installation
    for ref in refs:
        installation.cluster.delete(ref)
        installation.until_gone(ref)


def test_the_proxy_of_the_cluster_reaches_operators(openshift: Installation, namespace: str) -> None:
    """csv.md 6.3: what is there already gets it, too, and loses it with the proxy."""
    subscribe(openshift, namespace, "tide")
    openshift.until_phase("tide.v1.0.0", namespace)
    controller = DEPLOYMENT.ref("tide-controller", namespace)

    def proxy_of(deployment: Manifest) -> dict[str, str]:
        containers = deployment["spec"]["template"]["spec"]["containers"]
        arguments = [{one["name"]: one.get("value", "") for one in each.get("env") or ()} for each in containers]
        return {name: value for name, value in arguments[0].items() if "PROXY" in name}

    openshift.apply(an_object(PROXY, "cluster", httpProxy="http://proxy:3128", noProxy=".svc", httpsProxy=""))
    want = {"HTTP_PROXY": "http://proxy:3128", "NO_PROXY": ".svc"}
    openshift.until(controller, lambda one: proxy_of(one) == want, "the proxy in its containers")
    openshift.until_phase("tide.v1.0.0", namespace)
    openshift.cluster.delete(PROXY.ref("cluster"))
    openshift.until(controller, lambda one: proxy_of(one) == {}, "no proxy in its containers")
    openshift.until_phase("tide.v1.0.0", namespace)


def test_operators_keep_the_cluster_from_its_next_version(openshift: Installation, namespace: str) -> None:
    """csv.md 15.1."""
    subscribe(openshift, namespace, "tide")
    openshift.until_phase("tide.v1.0.0", namespace)
    openshift.apply(an_object(CLUSTER_VERSION, "version", desired={"version": "4.18.3"}))
    found = openshift.until(OURS, lambda one: condition(one, "Upgradeable").get("status") == "True", "Upgradeable")
    assert found["status"]["versions"] == [{"name": "operator", "version": "4.18.3"}]
    assert condition(found, "Available")["status"] == "True"

    csv = CLUSTER_SERVICE_VERSION.ref("tide.v1.0.0", namespace)
    head = {"apiVersion": csv.api_version, "kind": csv.kind}
    meta = {"name": csv.name, "namespace": csv.namespace, "annotations": {"operatorframework.io/properties": LIMIT}}
    openshift.apply({**head, "metadata": meta})
    found = openshift.until(OURS, lambda one: condition(one, "Upgradeable").get("status") == "False", "the obstacle")
    why = condition(found, "Upgradeable")
    assert why["reason"] == "IncompatibleOperatorsInstalled"
    assert why["message"].splitlines() == [
        "ClusterServiceVersions blocking minor version upgrades to 4.19:",
        f"- maximum supported OCP version for {namespace}/tide.v1.0.0 is 4.18",
    ]
    openshift.cluster.delete(csv)
    openshift.until(OURS, lambda one: condition(one, "Upgradeable").get("status") == "True", "Upgradeable again")
