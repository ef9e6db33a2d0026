"""Enqueue the InstallPlans that wait for their OperatorGroup, for the account that it names, or for its rights.

Reads:  the InstallPlans of the namespace.
Writes: nothing.
"""

from __future__ import annotations

from shared import names
from shared.api.views import InstallPlan
from shared.domain.plan.state import is_stopped
from shared.kinds import INSTALL_PLAN
from shared.ports import Cluster
from shared.step import Emit, Outcome, Ref


def notify_install_plans(ref: Ref, cluster: Cluster) -> Outcome:
    """Enqueue each InstallPlan in the namespace of the OperatorGroup at `ref` that waits for that."""
    found = [plan for plan in InstallPlan.each(cluster.list(INSTALL_PLAN, ref.namespace)) if is_stopped(plan)]
    emits = tuple(Emit(names.DEPENDENT_CHANGED, Ref.of(plan)) for plan in found)
    return Outcome(emits=emits, summary=f"concerns {len(emits)} InstallPlans")
