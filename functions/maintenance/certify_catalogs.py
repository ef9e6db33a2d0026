"""Make and rotate the certificate of the server of catalogs, and publish the CAs that its clients trust.

Reads:  our Deployment and its Secret, in public; the ConfigMap of the CAs; ClusterCatalogs.
Writes: the Secret; the ConfigMap. Enqueues the ClusterCatalogs whose status names another address.
"""

from __future__ import annotations

from collections.abc import Iterator

from functions.maintenance._certificates import kept
from shared import names
from shared.api.views import ClusterCatalog, Deployment, Object
from shared.domain import cluster_catalog
from shared.domain.endpoints.changes import change
from shared.domain.serving import catalog_certificate, serving_certificate
from shared.kinds import CLUSTER_CATALOG
from shared.ports import Clock, Cluster, Keys, Policy
from shared.step import Apply, Emit, Outcome, Ref


def certify_catalogs(ref: Ref, cluster: Cluster, keys: Keys, clock: Clock, *, policy: Policy) -> Outcome:
    """Key: the Deployment `olmf-catalogs`; what takes longer than a run is left to the audit."""
    if ref != catalog_certificate.server_of(policy.global_namespace):
        return Outcome(summary="only the Deployment of the installation serves catalogs")
    deployment = Deployment.of(cluster.get(ref))
    if deployment is None or deployment.is_deleted:
        return Outcome(summary="nothing serves catalogs")
    if not catalog_certificate.takes_ours(deployment):
        return Outcome(summary="it has a certificate of somebody else, or none")
    now, stored = clock.now(), keys.stored(serving_certificate.secret_of(deployment))
    hosts = catalog_certificate.hosts(ref)
    content = catalog_certificate.content_of(stored, ref, now, lambda: keys.issue(hosts, now))
    writes = kept(deployment, content, stored)
    desired = catalog_certificate.authorities(deployment, content)
    present = Object.of(cluster.get(catalog_certificate.authorities_of(ref)))
    writes += (Apply(desired),) if change(desired, present) else ()
    return Outcome(
        writes, tuple(_elsewhere(cluster, policy)), summary=f"the certificate is valid until {content.pair.ends.date()}"
    )


def _elsewhere(cluster: Cluster, policy: Policy) -> Iterator[Emit]:
    """The catalogs that an earlier release has said to be served without TLS."""
    for catalog in ClusterCatalog.each(cluster.list(CLUSTER_CATALOG)):
        if catalog.address not in ("", cluster_catalog.address(catalog, policy.catalogs_url)):
            yield Emit(names.DEPENDENT_CHANGED, Ref.of(catalog))
