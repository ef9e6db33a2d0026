"""Read the image of a ClusterCatalog by digest, and say that it is served.

Reads:  the ClusterCatalog; its image.
Writes: its status (`resolvedSource`, `urls`, `lastUnpacked`, the conditions).
Emits:  `io.olmf.catalog.failed` when it begins to fail.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from shared.api.views import ClusterCatalog
from shared.domain import cluster_catalog
from shared.domain.conditions import sanitised
from shared.domain.image_source import ImageSource
from shared.errors import RetryLater
from shared.names import CATALOG_FAILED, V1_CATALOG_FINALIZER
from shared.ports import Attempt, Catalogs, Clock, Cluster, Policy, Unavailable
from shared.step import NOTHING, Emit, Outcome, Record, Ref, SetStatus, Wait, Write

_RETRY = timedelta(seconds=15)
_SHOWN = 1000
"""Characters of a fault in an Event; the condition has all of it."""


def unpack_catalog(
    ref: Ref, cluster: Cluster, catalogs: Catalogs, clock: Clock, policy: Policy, *, attempt: Attempt
) -> Outcome:
    """The status from the image; nothing is read before `guard_catalog` has marked the catalog."""
    catalog = ClusterCatalog.of(cluster.get(ref))
    if catalog is None or catalog.is_deleted or catalog.is_disabled or V1_CATALOG_FINALIZER not in catalog.finalizers:
        return NOTHING
    if cluster_catalog.spec_fault(catalog):
        return NOTHING  # `guard_catalog` says why
    source = ImageSource(catalog.image, policy.global_namespace, policy.pull_secrets)
    found = attempt.ended_pull or catalogs.pull(source)
    now = clock.now()
    if isinstance(found, Unavailable):
        return _without(catalog, found, now)
    after = cluster_catalog.served(catalog, found.reference, policy.catalogs_url, now)
    writes = (SetStatus(ref, after, catalog.resource_version),) if after != catalog.status else ()
    summary = f"{found.reference} holds {found.packages} packages"
    return Outcome(writes, again_in=cluster_catalog.interval(catalog), summary=summary)


def _without(catalog: ClusterCatalog, trouble: Unavailable, now: datetime) -> Outcome:
    """What was served is served on; only a fault that may go away is tried again, with back-off."""
    pause, fault = max(_RETRY, trouble.after), cluster_catalog.pull_fault(trouble.message)
    if trouble.reason == "NoCatalog":
        fault = cluster_catalog.no_catalog(catalog, trouble.message)
    elif trouble.reason == "BadCatalog":
        fault = cluster_catalog.bad_catalog(trouble.message)
    after = cluster_catalog.failed(catalog, fault, now)
    ref = Ref.of(catalog)
    writes: tuple[Write, ...] = ()
    if after != catalog.status:
        writes = (SetStatus(ref, after, catalog.resource_version),)
    begins = cluster_catalog.fails_anew(catalog, fault)
    emits = (Emit(CATALOG_FAILED, ref),) if begins else ()
    if begins:
        writes += (Record(ref, "Warning", "UnpackFailed", fault.message[:_SHOWN]),)
    if fault.is_terminal:
        return Outcome(writes, emits, summary=fault.message)
    wait = Wait(f"{catalog.image}: {sanitised(trouble.message)}", next_try=now + pause)
    if not writes:
        raise RetryLater(f"{Ref.of(catalog)}: {trouble.message}", after=pause, wait=wait)
    return Outcome(writes, emits, again_in=pause, summary=fault.message, wait=wait)
