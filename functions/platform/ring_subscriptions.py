"""Ring the Subscriptions of a ClusterServiceVersion that is gone: theirs is to say so.

Reads:  the Subscriptions of its namespace.
Writes: nothing.
"""

from __future__ import annotations

from shared import names
from shared.domain.csv.dependents import follows
from shared.kinds import SUBSCRIPTION
from shared.ports import Cluster
from shared.step import Emit, Outcome, Ref


def ring_subscriptions(ref: Ref, cluster: Cluster) -> Outcome:
    """Ring each Subscription that installed the version at `ref`, or was about to."""
    found = [each for each in cluster.list(SUBSCRIPTION, ref.namespace) if follows(each, ref.name)]
    emits = tuple(Emit(names.DEPENDENT_RANG, Ref.of(each)) for each in found)
    return Outcome(emits=emits, verdict=f"concerns {len(emits)} Subscriptions")
