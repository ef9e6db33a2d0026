"""Fetch and render the bundle that a ClusterExtension is to run, and make a revision of it, in the long lane.

Reads:  the extension, its ClusterObjectSets; ClusterCatalogs; the image; the definitions that are there already.
Writes: Secrets with its objects, the ClusterObjectSet, and old ones that go; or the status of the extension: why not.
"""

from __future__ import annotations

from functools import partial

from functions.cluster_extension._writes import refused, writes_of
from shared.api.views import ClusterExtension
from shared.domain.extension import decision
from shared.domain.extension.making import Addition, Refusal, change, rendered, unreadable, unsafe
from shared.ports import Attempt, Bundles, Catalogs, Clock, Cluster, Discovery, Policy
from shared.reading.extension import Sources, cert_provider, definitions_like, fetched, read_inputs
from shared.step import NOTHING, Outcome, Ref


def install_bundle(
    ref: Ref, cluster: Cluster, catalogs: Catalogs, bundles: Bundles, *,
    discovery: Discovery, clock: Clock, policy: Policy, attempt: Attempt,
) -> Outcome:  # fmt: skip
    """The next revision of an extension, unless what it is to run has one."""
    extension = ClusterExtension.of(cluster.get(ref))
    if extension is None or extension.is_deleted:
        return NOTHING
    inputs = read_inputs(extension, Sources(cluster, catalogs, policy))
    target, provider = decision.decide(extension, inputs.revisions, inputs.catalogs), partial(cert_provider, discovery)
    if not (isinstance(target, decision.Target) and decision.is_due(extension, inputs.revisions, target, provider)):
        return Outcome(summary="no bundle is to be fetched")
    if attempt.failure:
        why = f"{attempt.failure.ref}: {attempt.failure.message}"
        return refused(extension, inputs.revisions, target, Refusal(why), now=clock.now())
    files = unreadable(target.bundle.image) or fetched(target.bundle.image, bundles, policy, attempt)
    made = files if isinstance(files, Refusal) else rendered(extension, target, files, provider)
    if isinstance(made, Refusal):
        return refused(extension, inputs.revisions, target, made, now=clock.now())
    done = change(extension, inputs.revisions, made, policy.global_namespace)
    if isinstance(done, Addition) and extension.is_strict:
        done = unsafe(made, definitions_like(made.definitions, cluster)) or done
    if isinstance(done, Refusal):
        return refused(extension, inputs.revisions, target, done, now=clock.now())
    return Outcome(writes_of(done), summary=f"{target.bundle.name}: {done}")
