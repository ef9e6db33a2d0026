"""The objects that an installation needs in its cluster: definitions, its namespace, its catalogs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from eventing.local.plan import Plan
from shared.api.manifest import Manifest, uid_of
from shared.kinds import CATALOG_SOURCE, DEPLOYMENT, NAMESPACE, NODE, Ref

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient

log = structlog.get_logger()


class TakeOverError(RuntimeError):
    """OLM itself runs on the cluster, and nobody said that we should take over."""


def make_objects(plan: Plan, kubeconfig: str, registry: str) -> bool:
    """Apply what is needed, with the catalogs that `registry` serves; whether the cluster has Nodes."""
    from shared.adapters.kube import KubeClient

    cluster = KubeClient.from_kubeconfig(kubeconfig)
    if plan.kubeconfig and not plan.take_over:
        refuse_beside_olm(cluster)
    apply_definitions(cluster)
    cluster.apply({"apiVersion": NAMESPACE.api_version, "kind": NAMESPACE.kind, "metadata": {"name": plan.namespace}})
    for ref in plan.served():
        cluster.apply(_catalog(ref, f"{registry}/catalogs/{ref.name}:latest"))
    for name, image in plan.images().items():
        cluster.apply(_catalog(CATALOG_SOURCE.ref(name, plan.namespace), image))
    return bool(cluster.list(NODE))


def remove_catalogs(plan: Plan, registry: str) -> bool:
    """Remove the CatalogSources whose images came from our registry: nobody can pull them any more."""
    from shared.adapters.kube import KubeClient

    cluster = KubeClient.from_kubeconfig(str(plan.kubeconfig))
    found = [source for ref in plan.served() if (source := cluster.get(ref))]
    ours = [source for source in found if str(source["spec"].get("image")).startswith(f"{registry}/")]
    for source in ours:
        cluster.delete(Ref.of(source), uid=uid_of(source))
        log.info("catalog_removed", ref=str(Ref.of(source)))
    return bool(ours)


def apply_definitions(cluster: KubeClient) -> None:
    """Apply our CustomResourceDefinitions (server-side apply: nothing changes where they are current)."""
    from shared.api.definitions import DEFINITIONS
    from shared.api.schema import custom_resource_definition

    for definition in DEFINITIONS:
        cluster.apply(custom_resource_definition(definition))


def refuse_beside_olm(cluster: KubeClient) -> None:
    """TakeOverError when OLM's own operators are deployed on the cluster."""
    for deployment in cluster.list(DEPLOYMENT):
        meta = deployment["metadata"]
        if meta["name"] in ("olm-operator", "catalog-operator"):
            raise TakeOverError(
                f"OLM runs on this cluster (Deployment {meta['namespace']}/{meta['name']}): two managers of the same "
                "objects would fight. Scale it to zero and say --take-over, or choose another cluster"
            )


def _catalog(ref: Ref, image: str) -> Manifest:
    return {
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "metadata": {"name": ref.name, "namespace": ref.namespace},
        "spec": {"sourceType": "grpc", "image": image, "displayName": ref.name, "publisher": "olmf up"},
    }
