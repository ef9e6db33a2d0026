"""Enqueue the namespaces that wait for a bundle when it is unpacked, or its Job has ended without that.

Reads:  the Subscriptions that may use the catalogs in the namespace of the object.
Emits:  `io.olmf.bundle.collected` per Namespace with a Subscription that waits for such a catalog's bundle.
"""

from __future__ import annotations

from shared import kinds, names
from shared.ports import Cluster, Policy
from shared.reading.waiting import waiting_namespaces
from shared.step import Emit, Outcome, Ref


def collect_bundle(ref: Ref, cluster: Cluster, policy: Policy) -> Outcome:
    """Emit an event for each Namespace that waits for a bundle of this namespace (key: a ConfigMap or a Job)."""
    waiting = waiting_namespaces(cluster, ref.namespace, policy.global_namespace)
    return Outcome(emits=tuple(Emit(names.BUNDLE_COLLECTED, kinds.NAMESPACE.ref(one)) for one in waiting))
