"""The conditions of a Subscription about its InstallPlan (catalog.md §3.6)."""

from __future__ import annotations

from shared import kinds
from shared.api.manifest import Manifest
from shared.api.views import InstallPlan, Subscription
from shared.domain.conditions import Condition
from shared.domain.objects.install_plan import CRD_SAFE
from shared.domain.objects.plan_record import is_foreign, is_refused
from shared.domain.subscription.conditions import BLOCKED, PLAN_FAILED, PLAN_MISSING, PLAN_PENDING

_LONGEST = 1000
CONDITIONS = (PLAN_MISSING, PLAN_PENDING, PLAN_FAILED, BLOCKED)


def conditions(plan: InstallPlan | None) -> tuple[Condition, ...]:
    """The one condition for the state of the plan; none when it is complete."""
    if plan is None:
        return (Condition(PLAN_MISSING, "True", "ReferencedInstallPlanNotFound"),)
    installed, message = plan.condition("Installed"), _message(plan)
    match plan.phase:
        case "":
            return (Condition(PLAN_PENDING, "True", "InstallPlanNotYetReconciled", message),)
        case "Planning" | "Installing" | "RequiresApproval" as phase:
            return (Condition(PLAN_PENDING, "True", phase, message),)
        case "Failed":
            reason = installed.reason if installed.status == "False" and not is_refused(plan) else ""
            return (Condition(PLAN_FAILED, "True", reason or "InstallPlanFailed", message),)
    return ()


def _message(plan: InstallPlan) -> str:
    """OLM's message; for a retried plan, its own message."""
    installed = plan.condition("Installed")
    if installed.status in ("True", "False") and installed.message:
        return installed.message
    return " ".join(f"{one.pending}." for one in plan.lookups if one.pending) or plan.message or _warning(plan)


def _warning(plan: InstallPlan) -> str:
    """Why a plan that waits for approval would not be carried out; OLM says nothing of it."""
    if not is_unsafe(plan):
        return ""
    return f"would not be carried out as things are: {plan.condition(CRD_SAFE).message[:_LONGEST]}"


def is_unsafe(plan: InstallPlan) -> bool:
    """Whether the plan waits for approval, and would lose what is stored, or may."""
    return plan.phase == "RequiresApproval" and plan.condition(CRD_SAFE).status in ("False", "Unknown")


def is_lost(plan: InstallPlan | None) -> bool:
    """Whether the plan is never executed: it is deleted, somebody emptied its status, or it is not what we wrote."""
    return plan is None or plan.is_empty or is_foreign(plan)


def has_failed(plan: InstallPlan | None) -> bool:
    """Whether the plan has failed for good."""
    return plan is not None and plan.phase == "Failed"


def blocking(plan: InstallPlan | None) -> tuple[Condition, ...]:
    """`Blocked`, when the plan of a Subscription in `UpgradePending` has failed for good; none otherwise."""
    if plan is None or not has_failed(plan):
        return ()
    name = plan.name
    message = (
        f"nothing else is installed while the failed InstallPlan {name} exists. Delete it for a new plan, with a newer"
        f" version if there is one: kubectl delete installplan {name} -n {plan.namespace}"
    )
    return (Condition(BLOCKED, "True", "InstallPlanFailed", message),)


def references(name: str, namespace: str, plan: InstallPlan | None = None) -> Manifest:
    """`installPlanRef` and the older field `installplan`; without the uid until the plan was read."""
    kind = kinds.INSTALL_PLAN
    place = {"apiVersion": kind.api_version, "kind": kind.kind}
    moment = {"uid": plan.uid, "resourceVersion": plan.resource_version} if plan is not None else {}
    return {
        "installPlanRef": {**place, "namespace": namespace, "name": name, **moment},
        "installplan": {**place, "name": name, "uuid": plan.uid if plan else ""},
    }


def completed(subscription: Subscription, plan: InstallPlan | None) -> Manifest:
    """The references with the uid of the plan, if they lack it or have that of an earlier plan of the same name."""
    if plan is None or subscription.plan_uid == plan.uid:
        return {}
    return references(plan.name, plan.namespace, plan)
