"""Decide which bundle a ClusterExtension is to run, and say what it runs.

Reads:  the extension, its ClusterObjectSets; ClusterCatalogs, and what those that it selects have of its package; the
        Secrets of a Helm release where it says that something is installed and has no ClusterObjectSet.
Writes: its status; the first ClusterObjectSet of such a release, with its Secrets; once it is deleted, it takes the
        finalizers of upstream's caches off.
Emits:  `io.olmf.extension.resolved` when there is no revision yet of what it is to run; what the world is notified of.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from functions.cluster_extension._migration import migration
from functions.cluster_extension._notices import announced
from functions.cluster_extension._writes import let_go
from shared import names
from shared.api.views import ClusterExtension
from shared.domain.extension import decision, report
from shared.ports import Catalogs, Clock, Cluster, Discovery, Policy
from shared.reading.extension import Sources, cert_provider, read_inputs
from shared.step import NOTHING, Emit, Outcome, Ref, Wait

_RETRY = timedelta(seconds=15)
"""When a catalog is asked again whose content could not be read."""


def resolve_extension(
    ref: Ref, cluster: Cluster, catalogs: Catalogs, discovery: Discovery, *, clock: Clock, policy: Policy
) -> Outcome:
    """The status of an extension; what is to be fetched and rendered, a worker of the long lane does."""
    extension = ClusterExtension.of(cluster.get(ref))
    if extension is None:
        return NOTHING
    if extension.is_deleted:
        return Outcome(let_go(extension), summary="it is deleted, and its revisions with it")
    now = clock.now()
    inputs = read_inputs(extension, Sources(cluster, catalogs, policy))
    migrated = migration(extension, inputs.revisions, cluster, namespace=policy.global_namespace, now=now)
    if migrated is not None:
        return migrated
    found = decision.decide(extension, inputs.revisions, inputs.catalogs)
    is_due = isinstance(found, decision.Target) and decision.is_due(
        extension, inputs.revisions, found, partial(cert_provider, discovery)
    )
    conditions = (
        *decision.deprecations(extension, inputs.revisions, found),
        *report.progress(inputs.revisions, found, is_due=is_due),
    )
    status = report.status(extension, inputs.revisions, conditions, now)
    quiet = report.until_reported(extension, status, now)
    again = _RETRY if inputs.is_incomplete and isinstance(found, decision.Failed) else quiet
    summary = report.summary(found, is_due=is_due)
    writes, emits = announced(extension, status) if quiet is None else ((), ())
    return Outcome(
        writes,
        (*emits, *((Emit(names.EXTENSION_RESOLVED, ref),) if is_due else ())),
        again_in=again,
        summary=summary,
        wait=Wait(summary, next_try=now + again if again else None) if isinstance(found, decision.Failed) else None,
    )
