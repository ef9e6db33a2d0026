"""Enqueue the Subscriptions of a ClusterServiceVersion that was deleted: their status must say so.

Reads:  the Subscriptions of its namespace.
Writes: nothing.
"""

from __future__ import annotations

from shared import names
from shared.api.views import Subscription
from shared.domain.csv.dependents import follows
from shared.kinds import SUBSCRIPTION
from shared.ports import Cluster
from shared.step import Emit, Outcome, Ref


def notify_subscriptions(ref: Ref, cluster: Cluster) -> Outcome:
    """Enqueue each Subscription that installed the version at `ref`, or was about to."""
    found = [each for each in Subscription.each(cluster.list(SUBSCRIPTION, ref.namespace)) if follows(each, ref.name)]
    emits = tuple(Emit(names.DEPENDENT_CHANGED, Ref.of(each)) for each in found)
    return Outcome(emits=emits, summary=f"concerns {len(emits)} Subscriptions")
