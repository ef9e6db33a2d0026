"""Unpack the bundles of a plan again whose ConfigMaps were deleted before it was carried out.

In OLM the plan fails, and somebody has to delete it (catalog.md 9.15).

Reads:  the plan; the catalogs of its bundles; the OperatorGroups of its namespace; unpack ConfigMaps and Jobs.
Writes: the unpack objects. The plan itself is tried again anyway.
"""

from __future__ import annotations

from functions.bundle import unpacked
from shared import kinds
from shared.domain.plan.state import is_finished
from shared.domain.unpack.lost import unpackings
from shared.domain.unpack.settings import settings
from shared.domain.unpack.verdict import spoken
from shared.ports import Bundles, Clock, Cluster, Policy
from shared.step import NOTHING, Outcome, Ref, Write


def restore_bundle(ref: Ref, cluster: Cluster, bundles: Bundles, clock: Clock, policy: Policy) -> Outcome:
    """Write the unpack objects that one plan lacks, as far as its catalogs still exist."""
    plan = cluster.get(ref)
    if plan is None or is_finished(plan):
        return NOTHING
    limits = settings(cluster.list(kinds.OPERATOR_GROUP, ref.namespace), policy.unpack_timeout)
    found: dict[str, str] = {}
    writes: list[Write] = []
    for name, wanted in unpackings(plan, cluster.get, limits, policy.unpack_image, user=policy.unpack_user):
        verdict, unpacking = unpacked(wanted, cluster, bundles, clock.now(), policy=policy)
        found[name] = spoken(verdict)
        writes += unpacking
    return Outcome(tuple(writes), verdict="; ".join(f"{name}: {text}" for name, text in found.items()))
