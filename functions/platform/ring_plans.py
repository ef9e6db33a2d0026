"""Wake the InstallPlans that wait until their namespace is ready for plans: its OperatorGroup may be ready now.

Reads:  the InstallPlans of the namespace.
Writes: nothing.
"""

from __future__ import annotations

from shared import names
from shared.domain.plan.state import is_blocked
from shared.kinds import INSTALL_PLAN
from shared.ports import Cluster
from shared.step import Emit, Outcome, Ref


def ring_plans(ref: Ref, cluster: Cluster) -> Outcome:
    """Ring each InstallPlan beside the OperatorGroup at `ref` that was stopped for lack of one group."""
    found = [plan for plan in cluster.list(INSTALL_PLAN, ref.namespace) if is_blocked(plan)]
    emits = tuple(Emit(names.DEPENDENT_RANG, Ref.of(plan)) for plan in found)
    return Outcome(emits=emits, verdict=f"concerns {len(emits)} InstallPlans")
