"""People and GitOps tools at a ClusterExtension: install, look, plan, wait, apply again, uninstall (v1.md §10, §26)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from shared.api.manifest import resource_version_of
from shared.kinds import CATALOG_SOURCE, CLUSTER_CATALOG, CLUSTER_EXTENSION, CLUSTER_OBJECT_SET, DEPLOYMENT
from tests.conformance.lifecycle.test_cluster_catalogs import a_catalog, until_served
from tests.conformance.lifecycle.test_extensions import remove_definitions
from tests.conformance.lifecycle.test_install import _state
from tests.conformance.packages.test_package_manifests import kubectl
from tests.kit.installation import Installation

NAME = "beacon"
EXTENSION = CLUSTER_EXTENSION.ref(NAME)
REVISION = CLUSTER_OBJECT_SET.ref(f"{NAME}-1")
CATALOG = CLUSTER_CATALOG.ref("verbs")


@pytest.fixture
def beacon(installation: Installation, namespace: str) -> Iterator[str]:
    """`beacon` 1.0.0, installed by `olmf install --v1`; what it said."""
    remove_definitions(installation, "beacons")
    source = CATALOG_SOURCE.ref("local", "olm")
    found = installation.until(source, lambda each: _state(each) == "READY", "READY")
    installation.apply(a_catalog(CATALOG.name, str(found["spec"]["image"])))
    until_served(installation, CATALOG)
    words = ("install", "--v1", NAME, "-n", namespace, "--source", CATALOG.name, "--version", "1.0.0")
    yield installation.olmf(*words).stdout
    installation.olmf("extension", "uninstall", NAME, "--delete-objects", check=False)
    installation.cluster.delete(CATALOG)
    installation.until_gone(CATALOG)


def reported(installation: Installation, *words: str) -> Any:
    return json.loads(installation.olmf(*words, "-o", "json").stdout)


def test_an_extension_from_install_to_uninstall(
    installation: Installation, beacon: str, namespace: str, tmp_path: Path
) -> None:
    """v1.md §26: what a person sees and does, and what a GitOps tool does."""
    assert beacon.splitlines()[-1] == "beacon: beacon.v1.0.0 Succeeded"
    installation.until_it_rests()
    seen(installation, namespace)
    applied_again(installation)
    planned(installation, tmp_path)
    taken_away(installation, namespace)


def seen(installation: Installation, namespace: str) -> None:
    """Every verb knows it, and every object of it is ready."""
    [row] = [one for one in reported(installation, "list") if one["extension"] == NAME]
    assert (row["phase"], row["version"], row["namespace"], row["message"]) == (
        "Succeeded", "beacon.v1.0.0", namespace, "",
    )  # fmt: skip
    found = reported(installation, "extension", "get", NAME)
    assert [one["revision"] for one in found["revisions"]] == [REVISION.name]
    assert found["objects"]
    assert {one["state"] for one in found["objects"]} == {"ready"}
    why = installation.olmf("why", f"clusterextension/{NAME}").stdout
    assert "bundle\n  Catalog verbs has " in why
    [explained] = reported(installation, "explain", f"ClusterExtension/{NAME}")["extensions"]
    assert any("Catalog verbs has " in one for one in explained["reasons"])
    assert (
        f"ClusterExtension/{NAME}: beacon.v1.0.0 is Succeeded" in installation.olmf("explain", "-n", namespace).stdout
    )
    assert [one["name"] for one in reported(installation, "catalog", "ls") if one["serving"] == "True"] == [
        CATALOG.name
    ]
    assert "unchanged" in installation.olmf("catalog", "refresh", CATALOG.name).stdout


def applied_again(installation: Installation) -> None:
    """`kubectl wait` ends at once, and the same YAML changes nothing: not the extension, and none of its objects."""
    kubectl(installation, "wait", "--for=condition=Installed", f"clusterextension/{NAME}", "--timeout=5s")
    kubectl(installation, "wait", "--for=condition=Available", f"clusterobjectset/{REVISION.name}", "--timeout=5s")
    extension = installation.cluster.get(EXTENSION)
    assert extension is not None
    assert {one["observedGeneration"] for one in extension["status"]["conditions"]} == {
        extension["metadata"]["generation"]
    }
    desired = {key: extension[key] for key in ("apiVersion", "kind", "spec")} | {"metadata": {"name": NAME}}
    file = installation.state / "beacon.yaml"
    file.write_text(yaml.safe_dump(desired))
    kubectl(installation, "apply", "--server-side", "-f", str(file))
    installation.until_it_rests()
    before = versions(installation)
    kubectl(installation, "apply", "--server-side", "-f", str(file))
    installation.until_it_rests()
    assert versions(installation) == before


def versions(installation: Installation) -> list[str]:
    found = installation.cluster.get_all([EXTENSION, REVISION])
    return [resource_version_of(one) for one in found if one]


def planned(installation: Installation, folder: Path) -> None:
    """What is there stays; an edit would change it."""
    stays = reported(installation, "extension", "plan", NAME)
    assert {one["effect"] for one in stays["objects"]} == {"keep"}, stays
    file = folder / "next.yaml"
    extension = dict(installation.cluster.get(EXTENSION) or {})
    extension["spec"]["source"]["catalog"]["version"] = "1.1.0"
    file.write_text(yaml.safe_dump(extension))
    changes = reported(installation, "extension", "plan", NAME, "-f", str(file))
    assert changes["wouldDo"], changes["blockers"]
    assert "change" in {one["effect"] for one in changes["objects"] if one["object"].startswith("Deployment ")}


def taken_away(installation: Installation, namespace: str) -> None:
    """Stored objects are not lost by silence, and nothing is left in the end."""
    stored = {"apiVersion": "samples.olmf.io/v1", "kind": "Beacon", "metadata": {"name": "a", "namespace": namespace}}
    installation.apply({**stored, "spec": {}})
    refused = installation.olmf("extension", "uninstall", NAME, check=False)
    assert (refused.returncode, "1 Beacon of beacons.samples.olmf.io" in refused.stderr) == (1, True)
    gone = installation.olmf("extension", "uninstall", NAME, "--delete-objects").stdout
    assert "gone: 1 revision, " in gone
    assert f"Namespace {namespace}" in gone
    assert installation.cluster.get(EXTENSION) is None
    assert installation.cluster.get(REVISION) is None
    assert installation.cluster.list(DEPLOYMENT, namespace) == ()
