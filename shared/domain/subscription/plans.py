"""The conditions of a Subscription about its InstallPlan (catalog.md §3.6)."""

from __future__ import annotations

from shared import kinds
from shared.api.manifest import Manifest, ReadOnly, name_of, namespace_of, resource_version_of, uid_of
from shared.domain.conditions import Condition, find
from shared.domain.objects.install_plan import is_empty
from shared.domain.objects.plan_record import is_foreign
from shared.domain.subscription.conditions import BLOCKED, PLAN_FAILED, PLAN_MISSING, PLAN_PENDING

CONDITIONS = (PLAN_MISSING, PLAN_PENDING, PLAN_FAILED, BLOCKED)


def conditions(plan: ReadOnly | None) -> tuple[Condition, ...]:
    """The one condition for the state of the plan; none when it is complete."""
    if plan is None:
        return (Condition(PLAN_MISSING, "True", "ReferencedInstallPlanNotFound"),)
    status = plan.get("status") or {}
    installed = find(status, "Installed") or {}
    message = _message(status, installed)
    match status.get("phase") or "":
        case "":
            return (Condition(PLAN_PENDING, "True", "InstallPlanNotYetReconciled", message),)
        case "Planning" | "Installing" | "RequiresApproval" as phase:
            return (Condition(PLAN_PENDING, "True", phase, message),)
        case "Failed":
            is_told = installed.get("status") == "False" and installed.get("reason")
            return (Condition(PLAN_FAILED, "True", installed["reason"] if is_told else "InstallPlanFailed", message),)
    return ()


def _message(status: ReadOnly, installed: ReadOnly) -> str:
    """OLM's message; for a retried plan, its own message."""
    if installed.get("status") in ("True", "False") and installed.get("message"):
        return str(installed["message"])
    pending = [find(lookup, "BundleLookupPending") or {} for lookup in status.get("bundleLookups") or ()]
    told = " ".join(f"{one['message']}." for one in pending if one.get("message"))
    return told or str(status.get("message") or "")


def is_lost(plan: ReadOnly | None) -> bool:
    """Whether the plan is never executed: it is deleted, somebody emptied its status, or it is not what we wrote."""
    return plan is None or is_empty(plan) or is_foreign(plan)


def has_failed(plan: ReadOnly | None) -> bool:
    """Whether the plan has failed for good."""
    return ((plan or {}).get("status") or {}).get("phase") == "Failed"


def blocking(plan: ReadOnly | None) -> tuple[Condition, ...]:
    """`Blocked`, when the plan of a Subscription in `UpgradePending` has failed for good; none otherwise."""
    if plan is None or not has_failed(plan):
        return ()
    name = name_of(plan)
    message = (
        f"nothing else is installed while the failed InstallPlan {name} exists. Delete it for a new plan, with a newer"
        f" version if there is one: kubectl delete installplan {name} -n {namespace_of(plan)}"
    )
    return (Condition(BLOCKED, "True", "InstallPlanFailed", message),)


def references(name: str, namespace: str, plan: ReadOnly | None = None) -> Manifest:
    """`installPlanRef` and the older field `installplan`; without the uid until the plan was read."""
    kind = kinds.INSTALL_PLAN
    place = {"apiVersion": kind.api_version, "kind": kind.kind}
    moment = {"uid": uid_of(plan), "resourceVersion": resource_version_of(plan)} if plan is not None else {}
    return {
        "installPlanRef": {**place, "namespace": namespace, "name": name, **moment},
        "installplan": {**place, "name": name, "uuid": moment.get("uid", "")},
    }


def completed(status: ReadOnly, plan: ReadOnly | None) -> Manifest:
    """The references with the uid of the plan, if they lack it or have that of an earlier plan of the same name."""
    if plan is None or (status.get("installPlanRef") or {}).get("uid") == uid_of(plan):
        return {}
    return references(name_of(plan), namespace_of(plan), plan)
