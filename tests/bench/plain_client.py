"""What the API server itself needs: a plain client makes the objects of an installation on a cluster of its own.

It makes them as fast as the server takes them, in threads, and knows all of them from the beginning: it reads
nothing, decides nothing and waits for nothing but definitions that are not served yet. What it needs is a floor for
whoever installs.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from shared.adapters.kube import ApiError, KubeClient
from shared.api.manifest import Manifest, metadata, namespace_of, uid_of
from shared.api.views import ApiService
from shared.kinds import API_SERVICE, CLUSTER_SERVICE_VERSION, CUSTOM_RESOURCE_DEFINITION, INSTALL_PLAN, NAMESPACE, Kind
from shared.names import FIELD_MANAGER
from tests.bench import processors
from tests.conformance.control_plane import running_control_plane
from tests.kit.installation import a_namespace
from tests.kit.waiting import wait_for

THREADS = 8
CRDS = Path(__file__).parents[2] / "k8s" / "crds"
BENCH = "test"
"""Who made what an installation begins with."""
WITH_STATUS = (CLUSTER_SERVICE_VERSION.kind, INSTALL_PLAN.kind)
"""Kinds whose status an installation makes, too; others have theirs from their controllers."""
OF_ITS_SERVER = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "ownerReferences")
WEBHOOKS = "admissionregistration.k8s.io/v1"


def present(cluster: KubeClient) -> frozenset[str]:
    """The uids of all there is."""
    return frozenset(uid_of(each) for each in _all(cluster))


def made(cluster: KubeClient, before: frozenset[str]) -> tuple[Manifest, ...]:
    """What our programs have made since then and is still there, as it can be made elsewhere."""
    return tuple(_bare(each) for each in _all(cluster) if uid_of(each) not in before and _is_ours(each))


def seconds(objects: Iterable[Manifest], threads: int = THREADS) -> float:
    """How long a plain client takes to make them where nobody else works, until every definition is served."""
    every = tuple(objects)
    with tempfile.TemporaryDirectory() as name, running_control_plane(Path(name)) as kubeconfig:
        cluster = KubeClient.from_kubeconfig(str(kubeconfig), agent="plain")
        _define(cluster, [yaml.safe_load(path.read_text()) for path in CRDS.glob("*.operators.coreos.com.yaml")])
        for namespace in sorted({namespace_of(each) for each in every} - {"", "default", "kube-system"}):
            cluster.apply(a_namespace(namespace))
        used, started = processors.mark(), time.perf_counter()
        with ThreadPoolExecutor(threads) as pool:
            first = [each for each in every if not _is_late(each, every)]
            list(pool.map(lambda each: _make(cluster, each), first))
            _wait_for(cluster, first)
            list(pool.map(lambda each: _make(cluster, each), [each for each in every if _is_late(each, every)]))
        took = time.perf_counter() - started
        print(f"processor time of a plain client: {processors.reported(used())}", file=sys.stderr)
        return took


def _all(cluster: KubeClient) -> Iterator[Manifest]:
    for root in ("/api/v1", *_groups(cluster)):
        for resource in cluster.request("GET", root).get("resources") or ():
            if {"create", "list"} <= set(resource["verbs"]) and "/" not in resource["name"]:
                version = root.removeprefix("/apis/").removeprefix("/api/")
                kind = Kind(version, resource["kind"], resource["name"], is_namespaced=resource["namespaced"])
                yield from cluster.list(kind)


def _groups(cluster: KubeClient) -> Iterator[str]:
    """The preferred version of each group that the server stores: an object of several versions is one object.

    Events have two groups.
    """
    aggregated = {one.group for one in ApiService.each(cluster.list(API_SERVICE)) if one.raw["spec"].get("service")}
    for group in cluster.request("GET", "/apis")["groups"]:
        if group["name"] not in (*aggregated, "events.k8s.io"):
            yield f"/apis/{group['preferredVersion']['groupVersion']}"


def _is_ours(manifest: Manifest) -> bool:
    managers = {each.get("manager") for each in metadata(manifest).get("managedFields") or ()}
    return FIELD_MANAGER in managers and BENCH not in managers and manifest["kind"] != NAMESPACE.kind


def _bare(manifest: Manifest) -> Manifest:
    meta = {key: value for key, value in metadata(manifest).items() if key not in OF_ITS_SERVER and key != "finalizers"}
    bare: dict[str, Any] = {**manifest, "metadata": meta}
    if bare["kind"] not in WITH_STATUS:
        bare.pop("status", None)
    if bare["kind"] == "Service":
        bare["spec"] = {key: value for key, value in bare["spec"].items() if not key.startswith("clusterIP")}
    if bare["kind"] == "Job":
        bare["spec"] = {key: value for key, value in bare["spec"].items() if key != "selector"}
        template = bare["spec"]["template"]
        bare["spec"]["template"] = {**template, "metadata": {"labels": {}}}
    return bare


def _is_late(manifest: Manifest, every: Iterable[Manifest]) -> bool:
    """Whether it needs an account or a definition, or would send requests of others to a webhook without a server."""
    groups = {each["spec"]["group"] for each in every if each["kind"] == CUSTOM_RESOURCE_DEFINITION.kind}
    return (
        manifest["kind"] == "Pod"
        or manifest["apiVersion"] == WEBHOOKS
        or manifest["apiVersion"].partition("/")[0] in groups
    )


def _make(cluster: KubeClient, manifest: Manifest) -> None:
    answer = cluster.create({key: value for key, value in manifest.items() if key != "status"})
    if "status" in manifest and manifest["kind"] in WITH_STATUS:
        version = {"resourceVersion": metadata(answer)["resourceVersion"]}
        status = {**answer, "metadata": {**metadata(answer), **version}, "status": manifest["status"]}
        cluster.replace_status(status)


def _define(cluster: KubeClient, definitions: list[Manifest]) -> None:
    for each in definitions:
        cluster.create(each)
    _wait_for(cluster, definitions)


def _wait_for(cluster: KubeClient, manifests: Iterable[Manifest]) -> None:
    """Wait until each definition among them is served."""
    for each in manifests:
        if each["kind"] == CUSTOM_RESOURCE_DEFINITION.kind:
            for version in (one["name"] for one in each["spec"]["versions"] if one["served"]):
                wait_for(partial(_is_served, cluster, each["spec"], version), f"{each['metadata']['name']} is served")


def _is_served(cluster: KubeClient, spec: Manifest, version: str) -> bool:
    try:
        served = cluster.request("GET", f"/apis/{spec['group']}/{version}")["resources"]
    except ApiError:
        return False
    return any(one["name"] == spec["names"]["plural"] for one in served)
