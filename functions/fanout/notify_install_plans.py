"""Enqueue the InstallPlans that wait until their namespace is ready for plans: its OperatorGroup may be ready now.

Reads:  the InstallPlans of the namespace.
Writes: nothing.
"""

from __future__ import annotations

from shared import names
from shared.api.views import InstallPlan
from shared.domain.plan.state import is_blocked
from shared.kinds import INSTALL_PLAN
from shared.ports import Cluster
from shared.step import Emit, Outcome, Ref


def notify_install_plans(ref: Ref, cluster: Cluster) -> Outcome:
    """Enqueue each InstallPlan in the namespace of the OperatorGroup at `ref` that waits for exactly one group."""
    found = [plan for plan in InstallPlan.each(cluster.list(INSTALL_PLAN, ref.namespace)) if is_blocked(plan)]
    emits = tuple(Emit(names.DEPENDENT_CHANGED, Ref.of(plan)) for plan in found)
    return Outcome(emits=emits, summary=f"concerns {len(emits)} InstallPlans")
