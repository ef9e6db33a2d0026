"""Pull one bundle image for the namespaces that wait for it (`OLMF_UNPACK=direct`), in the long lane.

Reads:  the ConfigMap that asks for it; the CatalogSource that it is for; the image; the Subscriptions that wait.
Writes: the content into the ConfigMap, or why it could not be had.
Emits:  `io.olmf.bundle.collected` per Namespace that waits.
"""

from __future__ import annotations

from shared import kinds, names
from shared.api.views import CatalogSource, ConfigMap
from shared.domain.image_source import ImageSource
from shared.domain.unpack import pulled
from shared.ports import Attempt, Bundles, Clock, Cluster, Policy, Unavailable
from shared.reading.waiting import waiting_namespaces
from shared.step import NOTHING, Emit, Merge, Outcome, Ref, Replace


def pull_bundle(
    ref: Ref, cluster: Cluster, bundles: Bundles, clock: Clock, *, policy: Policy, attempt: Attempt
) -> Outcome:
    """Fill one ConfigMap (key: the ConfigMap)."""
    config_map = ConfigMap.of(cluster.get(ref))
    image, owner = pulled.source_of(config_map) if config_map is not None else ("", "")
    catalog = CatalogSource.of(cluster.get(kinds.CATALOG_SOURCE.ref(owner, ref.namespace)) if image else None)
    if config_map is None or catalog is None:
        return NOTHING
    waiting = waiting_namespaces(cluster, ref.namespace, policy.global_namespace)
    if (left := pulled.rest(config_map, clock.now())) and not attempt.ended:
        return Outcome(again_in=left if waiting else None, summary=f"{image}: not again so soon after a failure")
    result = attempt.ended_pull or bundles.config_map_payload(ImageSource(image, ref.namespace, catalog.secrets))
    emits = tuple(Emit(names.BUNDLE_COLLECTED, kinds.NAMESPACE.ref(one)) for one in waiting)
    match result:
        case Unavailable(reason, message, after):
            patch = pulled.failed(reason, message, clock.now())
            write = Merge(ref, patch, config_map.resource_version)
            again_in = max(pulled.RETRY, after) if waiting else None  # who waits for it later asks for it anew
            return Outcome((write,), emits, again_in=again_in, summary=f"{image}: {message}")
        case payload:
            return Outcome((Replace(pulled.filled(config_map, payload)),), emits, summary=f"{image} is unpacked")
