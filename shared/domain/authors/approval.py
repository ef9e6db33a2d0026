"""The admission policy under which a plan names who approved it, and only who may approve decides what is installed."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from shared import names
from shared.api.manifest import Manifest
from shared.api.views import InstallPlan
from shared.domain.authors.admission import AdmissionPolicy
from shared.domain.authors.policy import ANNOTATIONS, SAME
from shared.domain.objects import plan_record
from shared.kinds import INSTALL_PLAN, SUBSCRIPTION

VERB: Final = "approve"
"""What RBAC lets somebody do with `installplans` who may approve; the API server itself knows no such verb."""
WRONG_APPROVER: Final = f"{names.APPROVED_BY} has to be the name of whoever approves: set it, or remove it"
NOT_ALLOWED: Final = (
    f"who approves, or writes a Subscription whose plans are approved by themselves, needs the verb {VERB} of "
    "installplans in the namespace; others may write Subscriptions with installPlanApproval Manual"
)
OTHER_CONTENT: Final = f"{names.PLAN_CONTENT} is what is approved, and not changed by approving, nor afterwards"
_LONGEST: Final = 253
"""Names of users are told as far as that."""


def _annotation(key: str, of: str) -> str:
    return f"'{key}' in variables.{of} ? variables.{of}['{key}'] : ''"


APPROVALS: Final = AdmissionPolicy(
    name="olmf-plan-approvals",
    file="k8s/optional/plan-approvals.yaml",
    kinds=(INSTALL_PLAN, SUBSCRIPTION),
    variables={
        **ANNOTATIONS,
        "isPlan": f"request.resource.resource == '{INSTALL_PLAN.plural}'",
        "approves": (
            "variables.isPlan ? object.spec.approved : "
            "!has(object.spec.installPlanApproval) || object.spec.installPlanApproval != 'Manual'"
        ),
        "isSame": SAME,
        "didApprove": (
            "variables.isPlan ? request.operation == 'UPDATE' && oldObject.spec.approved : variables.isSame"
        ),
        "approver": _annotation(names.APPROVED_BY, "annotations"),
        "approverBefore": _annotation(names.APPROVED_BY, "before"),
        "content": _annotation(names.PLAN_CONTENT, "annotations"),
        "contentBefore": _annotation(names.PLAN_CONTENT, "before"),
    },
    rules={
        "!variables.approves || (variables.didApprove ? variables.approver == variables.approverBefore : "
        "variables.approver in ['', request.userInfo.username])": WRONG_APPROVER,
        f"!variables.approves || variables.didApprove || authorizer.group('{INSTALL_PLAN.group}')"
        f".resource('{INSTALL_PLAN.plural}').namespace(object.metadata.namespace).check('{VERB}').allowed()":
            NOT_ALLOWED,
        "!variables.approves || request.operation == 'CREATE' || variables.content == variables.contentBefore":
            OTHER_CONTENT,
    },
    probe="an InstallPlan with a forged approver",
    counted="approvers are known of plans that are made",
)  # fmt: skip


def probe(namespace: str) -> Manifest:
    """An approved InstallPlan that the policy refuses, whoever tries to write it: nobody is called so."""
    meta = {"name": APPROVALS.name, "namespace": namespace, "annotations": {names.APPROVED_BY: "\n"}}
    spec = {"approval": "Manual", "approved": True, "clusterServiceVersionNames": []}
    return {"apiVersion": INSTALL_PLAN.api_version, "kind": INSTALL_PLAN.kind, "metadata": meta, "spec": spec}


def named(plan: InstallPlan) -> str:
    """Who says that he approved it; empty when nobody does."""
    return plan.annotations.get(names.APPROVED_BY, "")


def approver(plan: InstallPlan, since: datetime | str) -> str:
    """Who approved a plan that names somebody; `since` as `AdmissionPolicy.since` tells it."""
    client, user = plan_record.approver(plan), named(plan)[:_LONGEST]
    if not isinstance(since, str) and (plan.created is None or plan.created < since):
        since = f"it was created before the policy {APPROVALS.name} was in force for a minute"
    if isinstance(since, str):
        return f"{client}, with the name {user!r}, which nobody checked ({since.partition(': ')[0]})"
    return f"{user}, whose name the policy {APPROVALS.name} checked, with {client}"
