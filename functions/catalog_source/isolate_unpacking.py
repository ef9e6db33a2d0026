"""Close the pods that unpack the bundles of a CatalogSource to connections, where a cluster enforces NetworkPolicies.

Reads:  the CatalogSource; the NetworkPolicy `<its name>-unpack-bundles`.
Writes: that NetworkPolicy, as OLM makes it; an Event when it cannot be.
"""

from __future__ import annotations

from datetime import timedelta

from shared.api.views import CatalogSource, Object
from shared.domain.catalog_source import RECHECK
from shared.domain.unpack import network_policy
from shared.ports import Attempt, Cluster
from shared.step import NOTHING, Create, Outcome, Record, Ref, Replace


def isolate_unpacking(ref: Ref, cluster: Cluster, *, attempt: Attempt) -> Outcome:
    """Write the NetworkPolicy of a CatalogSource, unless it is right."""
    source = CatalogSource.of(cluster.get(ref))
    if source is None or source.is_deleted or source.is_by_address:
        return NOTHING
    policy = network_policy.policy_ref(source)
    if policy is None:
        return _without(ref, "no NetworkPolicy can have its name")
    present = Object.of(cluster.get(policy))
    if present is not None and not network_policy.is_its_own(source, present):
        return _without(ref, f"the NetworkPolicy {policy.name} is not its own: rename one of the two", RECHECK)
    if attempt.failure:
        return _without(ref, f"its NetworkPolicy cannot be written: {attempt.failure.message}", RECHECK)
    desired = network_policy.policy_of(source, policy)
    if present is None:
        return Outcome((Create(desired, must_be_new=True),))
    repaired = network_policy.repaired(present, desired)
    if repaired is None or present.is_deleted:  # one that goes is made again when it is gone
        return NOTHING
    return Outcome((Replace(repaired),))


def _without(ref: Ref, why: str, again_in: timedelta | None = None) -> Outcome:
    note = Record(ref, "Warning", "NoNetworkPolicy", f"pods that unpack its bundles lack a NetworkPolicy: {why}")
    return Outcome((note,), again_in=again_in, summary=why)
