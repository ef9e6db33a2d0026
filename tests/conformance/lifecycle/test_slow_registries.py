"""Six catalogs of a registry that sends a byte now and then: nobody but their own namespace waits for them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from shared.api.manifest import Manifest
from shared.kinds import CATALOG_SOURCE, Ref
from tests.conformance.attacks.registry import Hostile, hostile_registry
from tests.conformance.lifecycle.conftest import TARGETS
from tests.conformance.targets import running
from tests.kit.installation import SAMPLES, Installation, a_namespace, a_subscription, an_operator_group
from tests.kit.waiting import wait_for

TENANT, NEIGHBOUR = "tenant", "neighbour"
SLOW = [CATALOG_SOURCE.ref(f"slow-{index}", TENANT) for index in range(6)]
ENDLESS = {"OLMF_PULL_SECONDS": "3600", "OLMF_PULL_SLOW_SECONDS": "3600", "OLMF_LONG_SECONDS": "3600"}
"""A slow pull goes on until its registry ends: who has to wait for one waits longer than a test."""
READS = "catalog_source/snapshot_catalog"
SHORT = {"OLMF_PULL_SLOW_SECONDS": "3"}


@contextmanager
def attacked(target: str, folder: Path, environ: dict[str, str]) -> Iterator[tuple[Installation, Hostile]]:
    """An installation where a tenant has just made its catalogs."""
    words = ("--bundles", str(SAMPLES))
    with running(target, folder, *words, environ=environ) as host, hostile_registry() as registry:
        host.apply(a_namespace(TENANT), a_namespace(NEIGHBOUR))
        host.apply(*(a_catalog(ref, f"{registry.address}/{ref.name}/x:latest") for ref in SLOW))
        yield host, registry


def a_catalog(ref: Ref, image: str) -> Manifest:
    meta = {"name": ref.name, "namespace": ref.namespace}
    spec = {"sourceType": "grpc", "image": image}
    return {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": meta, "spec": spec}


def a_neighbour_installs(host: Installation) -> None:
    """A catalog of the neighbour's own is read, and what it offers is installed."""
    local = host.cluster.get(CATALOG_SOURCE.ref("local", "olm"))
    assert local
    own = CATALOG_SOURCE.ref("own", NEIGHBOUR)
    host.apply(
        a_catalog(own, local["spec"]["image"]),
        an_operator_group(NEIGHBOUR, targets=(NEIGHBOUR,)),
        a_subscription("tide", NEIGHBOUR, source=own.name, sourceNamespace=NEIGHBOUR),
    )
    host.until(own, lambda each: state(each) == "READY", "READY")
    host.until_phase("tide.v1.0.0", NEIGHBOUR)


def state(source: Manifest) -> str:
    return str(source["status"]["connectionState"]["lastObservedState"])


def jobs(host: Installation) -> set[tuple[str, str]]:
    """The jobs that read the slow catalogs, with their states; one that runs may wait to run once more, too."""
    found = json.loads(host.olmf("queue", "ls", "-o", "json").stdout)
    slow = {str(ref) for ref in SLOW}
    return {(job["ref"], job["state"]) for job in found if job["ref"] in slow and job["step"] == READS}


@pytest.mark.parametrize("target", TARGETS)
def test_a_neighbour_installs_while_pulls_do_not_end(target: str, tmp_path: Path) -> None:
    with attacked(target, tmp_path, ENDLESS) as (host, registry):
        wait_for(lambda: registry.slow, "the first slow pull")
        a_neighbour_installs(host)
        found = jobs(host)
        assert {ref for ref, _ in found} == {str(ref) for ref in SLOW}
        assert len([ref for ref, how in found if how == "running"]) == 1, "one, and it goes on"
        reported = {ref.name: (host.cluster.get(ref) or {}).get("status") for ref in SLOW}
        assert all(reported.values()), "also those that wait in line"
        assert {state({"status": each}) for each in reported.values() if each} == {"CONNECTING"}, reported


@pytest.mark.parametrize("target", TARGETS)
def test_each_slow_catalog_reports_it(target: str, tmp_path: Path) -> None:
    with attacked(target, tmp_path, SHORT) as (host, registry):
        a_neighbour_installs(host)
        for ref in SLOW:
            source = host.until(ref, lambda each: state(each) == "TRANSIENT_FAILURE", "TRANSIENT_FAILURE")
            assert f"{registry.address} is too slow" in source["status"]["message"]
            assert f"{registry.address} is too slow" in host.olmf("why", str(ref), check=False).stdout
