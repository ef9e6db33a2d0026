"""Applies the objects that an installation needs: CustomResourceDefinitions, its namespace, its CatalogSources."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import structlog

from eventing.local.marker import InstallationMarker
from eventing.local.plan import Plan
from eventing.packages.objects import service, simulated
from shared import names
from shared.api.crds import definitions
from shared.api.manifest import Manifest, labels_of, uid_of
from shared.api.views import ApiService
from shared.domain.command import olmf
from shared.domain.serving.publication import API, is_ours, server_of
from shared.kinds import CATALOG_SOURCE, DEPLOYMENT, NAMESPACE, NODE, Ref

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient

_MANAGERS = {
    **dict.fromkeys(names.OLM_PROGRAMS, "OLM runs"),
    **dict.fromkeys(names.V1_PROGRAMS, "OLM v1 runs"),
    **dict.fromkeys(("olmf-worker", "olmf-scheduler"), "olm-functions run in pods"),
}
"""Deployments that manage the same objects as `olmf up`, and what each means."""
POD_SECURITY = "pod-security.kubernetes.io/enforce"
log = structlog.get_logger()


class TakeOverError(RuntimeError):
    """OLM or another installation manages the cluster, and `--take-over` was not given."""


def make_objects(plan: Plan, kubeconfig: str, registry: str) -> bool:
    """Apply the objects, with the catalogs that `registry` serves; returns whether the cluster has real Nodes."""
    from shared.adapters.kube import KubeClient

    cluster = KubeClient.from_kubeconfig(kubeconfig)
    if plan.kubeconfig and not plan.take_over:
        refuse_other_managers(cluster)
        refuse_second_installation(cluster, InstallationMarker.of(plan.state))
    catalogs = {ref: f"{registry}/catalogs/{ref.name}:latest" for ref in plan.served()}
    catalogs |= {CATALOG_SOURCE.ref(name, plan.namespace): image for name, image in plan.images().items()}
    refuse_catalogs_of_others(cluster, catalogs)
    apply_definitions(cluster)
    labels = {POD_SECURITY: "restricted"}
    meta = {"name": plan.namespace, "labels": labels, "annotations": {names.UP: str(InstallationMarker.of(plan.state))}}
    cluster.apply({"apiVersion": NAMESPACE.api_version, "kind": NAMESPACE.kind, "metadata": meta})
    for ref, image in catalogs.items():
        cluster.apply(_catalog(ref, image))
    has_nodes = any(names.SIMULATED_NODE not in labels_of(node) for node in cluster.list(NODE))
    for manifest in () if has_nodes else packages(plan.namespace):  # why: a real Node has no image of this tree
        cluster.apply(manifest)
    return has_nodes


def leave(plan: Plan, registry: str) -> bool:
    """Remove our annotation and the catalogs of our registry; returns whether there were such catalogs."""
    from shared.adapters.kube import KubeClient

    cluster = KubeClient.from_kubeconfig(str(plan.kubeconfig))
    remove_packages(cluster, plan.namespace)
    InstallationMarker.of(plan.state).erase(cluster)
    return remove_catalogs(cluster, plan, registry)


def packages(namespace: str) -> tuple[Manifest, ...]:
    """What serves PackageManifests; a step registers the API while it does."""
    return (service(namespace), simulated(namespace))


def remove_packages(cluster: KubeClient, namespace: str) -> None:
    """Delete what served PackageManifests; the API first, because nothing serves it any more."""
    present = ApiService.of(cluster.get(API))
    is_registered = present is not None and is_ours(present, server_of(namespace))
    for ref in (*((API,) if is_registered else ()), *map(Ref.of, packages(namespace))):
        if cluster.get(ref):
            cluster.delete(ref)


def remove_catalogs(cluster: KubeClient, plan: Plan, registry: str) -> bool:
    """Delete the CatalogSources with images of our registry, which cannot be pulled any more."""
    found = [source for ref in plan.served() if (source := cluster.get(ref))]
    ours = [one for one in found if _is_ours(one) and str(one["spec"].get("image")).startswith(f"{registry}/")]
    for source in ours:
        cluster.delete(Ref.of(source), uid=uid_of(source))
        log.info("catalog_removed", ref=str(Ref.of(source)))
    return bool(ours)


def apply_definitions(cluster: KubeClient) -> None:
    """Apply our CustomResourceDefinitions; server-side apply changes nothing when they are current."""
    for definition in definitions():
        cluster.apply(definition)


def refuse_other_managers(cluster: KubeClient) -> None:
    """TakeOverError when OLM's own operators, or our programs, are deployed on the cluster."""
    for deployment in cluster.list(DEPLOYMENT):
        meta = deployment["metadata"]
        if meta["name"] in _MANAGERS:
            raise TakeOverError(
                f"{_MANAGERS[meta['name']]} on this cluster (Deployment {meta['namespace']}/{meta['name']}): two "
                "managers of the same objects would fight. Scale it to zero and give --take-over, or choose another "
                "cluster"
            )


def refuse_second_installation(cluster: KubeClient, mine: InstallationMarker) -> None:
    """TakeOverError when another `olmf up` works on the cluster, or may do so on another machine."""
    other = InstallationMarker.read(cluster)
    if other is None or other == mine or other.is_over():
        return
    down = olmf("down", "--state", str(other.root))
    raise TakeOverError(
        f"`olmf up` works on this cluster already, on {other.machine} in {other.root}: two managers of the same "
        f"objects would fight. There, `{down}` ends it; or give --take-over, if it has ended"
    )


def refuse_catalogs_of_others(cluster: KubeClient, catalogs: Iterable[Ref]) -> None:
    """TakeOverError when somebody else has made a CatalogSource that one of the catalogs would replace."""
    for ref in catalogs:
        if (source := cluster.get(ref)) and not _is_ours(source):
            raise TakeOverError(
                f"CatalogSource {ref.namespace}/{ref.name} was not made by `olmf up`, and is not replaced: serve the "
                "catalog under another name (that of its folder), or delete that CatalogSource"
            )


def _is_ours(source: Manifest) -> bool:
    return bool((source.get("spec") or {}).get("publisher") == names.LOCAL_PUBLISHER)


def _catalog(ref: Ref, image: str) -> Manifest:
    return {
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "metadata": {"name": ref.name, "namespace": ref.namespace},
        "spec": {"sourceType": "grpc", "image": image, "displayName": ref.name, "publisher": names.LOCAL_PUBLISHER},
    }
