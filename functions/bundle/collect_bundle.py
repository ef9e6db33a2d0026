"""Wake the namespaces that wait for an unpack Job when it has ended.

Reads:  the Job; the Subscriptions that may use the catalogs beside the Job.
Emits:  `io.olmf.bundle.collected` per Namespace with a Subscription that waits for such a catalog's bundle.
"""

from __future__ import annotations

from shared import kinds, names
from shared.api.manifest import namespace_of
from shared.domain.unpack.report import has_unpack_condition
from shared.domain.unpack.result import is_over
from shared.ports import Cluster, Policy
from shared.step import NOTHING, Emit, Outcome, Ref


def collect_bundle(ref: Ref, cluster: Cluster, policy: Policy) -> Outcome:
    """Emit an event for each Namespace with a Subscription that waits for a bundle of such a catalog."""
    job = cluster.get(ref)
    if job is not None and not is_over(job):
        return NOTHING
    place = "" if ref.namespace == policy.global_namespace else ref.namespace
    waiting = {
        namespace_of(one)
        for one in cluster.list(kinds.SUBSCRIPTION, place)
        if has_unpack_condition(one) and (one.get("spec") or {}).get("sourceNamespace") == ref.namespace
    }
    return Outcome(emits=tuple(Emit(names.BUNDLE_COLLECTED, kinds.NAMESPACE.ref(one)) for one in sorted(waiting)))
