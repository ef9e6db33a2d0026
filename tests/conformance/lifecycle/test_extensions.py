"""ClusterExtensions at work: from the object to what runs, through an upgrade, and back (v1.md §26)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from shared.api.manifest import Manifest
from shared.kinds import (
    CATALOG_SOURCE,
    CLUSTER_CATALOG,
    CLUSTER_EXTENSION,
    CLUSTER_OBJECT_SET,
    DEPLOYMENT,
    Ref,
)
from tests.conformance.lifecycle.test_cluster_catalogs import a_catalog, until_served
from tests.conformance.lifecycle.test_install import _state
from tests.kit.installation import Installation, condition

CATALOG = CLUSTER_CATALOG.ref("extensions")


def an_extension(
    name: str, namespace: str, package: str = "tide", *, spec: Manifest | None = None, **source: Any
) -> Manifest:
    labels = {"matchLabels": {"olm.operatorframework.io/metadata.name": CATALOG.name}}
    wanted = {"packageName": package, "selector": labels, **source}
    return {
        "apiVersion": CLUSTER_EXTENSION.api_version, "kind": "ClusterExtension", "metadata": {"name": name},
        "spec": {"namespace": namespace, "source": {"sourceType": "Catalog", "catalog": wanted}, **(spec or {})},
    }  # fmt: skip


@pytest.fixture
def extension(installation: Installation, namespace: str) -> Iterator[Ref]:
    """A name of the test's own, whose extension and catalog go with the test."""
    source = CATALOG_SOURCE.ref("local", "olm")
    installation.until(source, lambda each: _state(each) == "READY", "READY")
    found = installation.cluster.get(source)
    assert found is not None
    installation.apply(a_catalog(CATALOG.name, str(found["spec"]["image"])))
    until_served(installation, CATALOG)
    ref = CLUSTER_EXTENSION.ref(namespace)
    yield ref
    for each in (ref, CATALOG):
        if installation.cluster.get(each) is not None:
            installation.cluster.delete(each)
            installation.until_gone(each)
    for one in revisions(installation, ref):
        installation.until_gone(Ref.of(one))


def revisions(installation: Installation, extension: Ref) -> tuple[Manifest, ...]:
    labels = {"olm.operatorframework.io/owner-name": extension.name}
    return installation.cluster.list(CLUSTER_OBJECT_SET, labels=labels)


def until_installed(installation: Installation, extension: Ref, version: str) -> Manifest:
    """The extension as soon as a version is rolled out."""

    def holds(each: Manifest) -> bool:
        is_settled = condition(each, "Progressing")["reason"] == "Succeeded"
        return bool(is_settled and each["status"]["install"]["bundle"]["version"] == version)

    return installation.until(extension, holds, f"version {version}")


def test_an_extension_is_installed(installation: Installation, extension: Ref, namespace: str) -> None:
    installation.apply(an_extension(extension.name, namespace, version="0.1.0"))
    found = until_installed(installation, extension, "0.1.0")
    assert condition(found, "Installed")["reason"] == "Succeeded"
    assert condition(found, "Available")["status"] == "True"
    assert found["status"]["activeRevisions"] == [{"name": f"{extension.name}-1"}]
    deployment = installation.cluster.get(DEPLOYMENT.ref("tide-controller", namespace))
    assert deployment is not None
    assert deployment["metadata"]["labels"]["olm.operatorframework.io/owner-name"] == extension.name
    installation.cluster.delete(extension)
    installation.until_gone(extension)
    installation.until_gone(DEPLOYMENT.ref("tide-controller", namespace))
