"""From a change of a ConfigMap of 300 packages to its catalog, on the sandbox: `python -m tests.bench.config_maps`."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from shared.api.manifest import Manifest
from shared.api.views import CatalogSource
from shared.kinds import CATALOG_SOURCE
from tests.bench.row import Row
from tests.conformance.lifecycle.test_config_maps import a_catalog, a_config_map, a_version, is_ready
from tests.kit.installation import Installation, a_namespace, installed

PACKAGES, CHANGES = 300, 5
PLACE = "kitchens"
SECONDS = 1.0


def rows() -> Iterable[Row]:
    """The quickest of a few changes, because a loaded machine makes all of them slower."""
    with tempfile.TemporaryDirectory() as folder, installed(Path(folder) / "olmf") as host:
        host.apply(a_namespace(PLACE), filled(0), a_catalog(PLACE))
        host.until(CATALOG_SOURCE.ref("kitchen", PLACE), is_ready, "READY")
        took = min(seconds_of(host, number) for number in range(1, CHANGES + 1))
    yield Row(f"a ConfigMap of {PACKAGES} packages, from its change to READY", took, SECONDS, "s")


def seconds_of(host: Installation, number: int) -> float:
    """From a change to the catalog that serves it."""
    ref = CATALOG_SOURCE.ref("kitchen", PLACE)
    before = CatalogSource(host.cluster.get(ref) or {}).content
    host.apply(filled(number))
    started = time.perf_counter()
    host.until(ref, lambda each: is_ready(each) and CatalogSource(each).content != before, "READY with the change")
    return time.perf_counter() - started


def filled(number: int) -> Manifest:
    """Packages of one version each; the number is in the description of each."""
    found = a_config_map(PLACE, a_version("1.0.0"))
    versions = [renamed(f"kettle-{place}", number) for place in range(PACKAGES)]
    packages = [
        {"packageName": f"kettle-{place}", "channels": [{"name": "alpha", "currentCSV": f"kettle-{place}.v1.0.0"}]}
        for place in range(PACKAGES)
    ]
    lists = {"clusterServiceVersions": json.dumps(versions), "packages": json.dumps(packages)}
    return {**found, "data": {**found["data"], **lists}}


def renamed(package: str, number: int) -> Manifest:
    """The version of a package."""
    one = a_version("1.0.0")
    return {
        **one,
        "metadata": {"name": f"{package}.v1.0.0"},
        "spec": {**one["spec"], "description": f"Change {number}", "customresourcedefinitions": {}},
    }
