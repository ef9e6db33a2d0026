"""Reads who approved a plan (`functions/install_plan/README.md`, Approvers)."""

from __future__ import annotations

from shared.api.views import InstallPlan
from shared.domain.authors import approval
from shared.domain.objects import plan_record
from shared.domain.operator_groups.identity import Identity, Nobody
from shared.ports import Accounts
from shared.reading.admission import in_force


def approver_of(plan: InstallPlan, actor: Identity | Nobody, accounts: Accounts) -> str:
    """Who approved a plan that is about to begin: a person whose name was checked, or the client that did it.

    Nothing is read of a plan that names nobody, that nobody may carry out now, or of which it is told already.
    """
    begins = plan.is_approved and plan_record.begins(plan) and plan_record.is_intact(plan)
    if not begins or not approval.named(plan) or isinstance(actor, Nobody):
        return plan_record.approver(plan)
    return approval.approver(plan, in_force(approval.APPROVALS, approval.probe(plan.namespace), accounts))
