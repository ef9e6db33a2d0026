"""Says in one line where a package stands and what it waits for; pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from shared.api.manifest import ReadOnly, name_of
from shared.domain.csv.lacking import lacking
from shared.domain.objects.subscription import current_csv, installed_csv
from shared.domain.resolver.explain.findings import in_one_line
from shared.domain.resolver.subscription_policy import subscription_policy_of, unknown
from shared.domain.subscription import health
from shared.domain.subscription.conditions import (
    BLOCKED,
    CATALOGS_UNHEALTHY,
    HELD,
    PINNED,
    PLAN_FAILED,
    PLAN_MISSING,
    PLAN_PENDING,
    STRANDED,
)
from shared.domain.unsupported import VERSION, unsupported

TROUBLES = (
    "InstalledCSVMissing",
    "ResolutionFailed",
    "BundleUnpackFailed",
    PLAN_FAILED,
    PLAN_MISSING,
    PLAN_PENDING,
    STRANDED,
    "CatalogSourcesUnhealthy",
    "BundleUnpacking",
)
"""Conditions of a Subscription that say why it does not go on, the gravest first."""
_SETTLED = ("Succeeded", "Replacing", "Deleting")
"""Phases of an installed version that nobody waits for."""
_FAILED = "install strategy failed: "
"""What OLM writes twice in some messages."""
_UNSATISFIABLE = "ConstraintsNotSatisfiable"
"""The reason of a condition whose message says so again."""


@dataclass(frozen=True, slots=True)
class PackageStatus:
    """Where a package stands."""

    version: str
    """Name of the CSV that is installed or on its way, empty before there is one."""
    phase: str
    """The phase of the CSV, or what the Subscription is at."""
    says: str = ""
    """What it waits for, or what went wrong."""
    held: str = ""
    """The version that a hold keeps, and why."""
    pinned: str = ""
    """The wish for a version, and what is newer."""
    stranded: str = ""
    """Why the channel leads nowhere from what is installed."""
    plan: str = ""
    """The InstallPlan that waits for approval."""
    reason: str = field(default="", compare=False)
    """In one word why it does not go on."""
    subscription: str = field(default="", compare=False)
    since: str = field(default="", compare=False)
    """Since when; who follows a package sees no news in it."""
    is_done: bool = False
    """The wanted version is installed and works, and nothing newer was found impossible."""
    is_stuck: bool = False
    """It does not go on before somebody changes what is wanted or offered."""


def package_status(subscription: ReadOnly, csv: ReadOnly | None, kept: ReadOnly | None = None) -> PackageStatus:
    """Where a Subscription and its current CSV (None: not there yet) stand; `kept` is what is installed until then."""
    status = subscription.get("status") or {}
    current, installed = current_csv(subscription), installed_csv(subscription)
    said = _said(status)
    trouble = next((said[kind] for kind in TROUBLES if kind in said), {})
    wish = subscription_policy_of(subscription)
    hold = wish.why_held if installed else wish.hold
    pinned = str(said.get(PINNED, {}).get("message") or "") if wish.version else ""
    plan = _plan_to_approve(status, said)
    facts = (csv or {}).get("status") or {}
    phase = str(facts.get("phase") or "Pending") if csv else str(trouble.get("type") or status.get("state") or "")
    works = phase == "Succeeded"
    is_waiting_csv = csv is not None and not works and not _plan_failure(said)
    cause = facts if is_waiting_csv else trouble or said.get(HELD if hold else PINNED) or {}
    news = _waited(facts) if is_waiting_csv else _sentence(trouble, plan, works=works)
    blocked = str(said.get(BLOCKED, {}).get("message") or "")
    return PackageStatus(
        current,
        phase or "Resolving",
        subscription=name_of(subscription),
        says="; ".join(
            filter(None, (news, blocked, _left_behind(kept), hold and f"held: {hold}", pinned, unknown(subscription)))
        ),
        held=f"{installed or 'no version yet'}: {hold}" if hold else "",
        pinned=pinned,
        stranded=str(said.get(STRANDED, {}).get("message") or ""),
        plan=plan,
        reason=str(cause.get("reason") or ""),
        since=str(cause.get("lastTransitionTime") or "").replace("Z", "+00:00"),
        is_done=works and installed == current and "ResolutionFailed" not in said,
        is_stuck=bool(unsupported(VERSION, csv))
        if is_waiting_csv and csv
        else _is_stuck(trouble) or bool(hold and not current),
    )


def unclaimed(csv: ReadOnly) -> PackageStatus:
    """Where a ClusterServiceVersion stands that no Subscription has to do with."""
    status = csv.get("status") or {}
    phase = str(status.get("phase") or "Pending")
    news = "" if phase == "Succeeded" else _waited(status)
    since = str(status.get("lastTransitionTime") or "").replace("Z", "+00:00")
    return PackageStatus(name_of(csv), phase, "; ".join(filter(None, ("no Subscription", news))), since=since)


def _said(status: ReadOnly) -> dict[str, ReadOnly]:
    """The conditions that hold; that other catalogs are ill does not concern the package."""
    found = {str(each["type"]): each for each in status.get("conditions") or () if each.get("status") == "True"}
    if not health.concerns(found.get(CATALOGS_UNHEALTHY, {})):
        found.pop(CATALOGS_UNHEALTHY, None)
    return found


def _plan_to_approve(status: ReadOnly, said: dict[str, ReadOnly]) -> str:
    is_waiting = said.get(PLAN_PENDING, {}).get("reason") == "RequiresApproval"
    return str((status.get("installPlanRef") or {}).get("name") or "") if is_waiting else ""


def _plan_failure(said: dict[str, ReadOnly]) -> str:
    """What its plan failed with: until that is done, its version waits for what the plan did not make."""
    return next((str(said[kind].get("message") or "") for kind in (PLAN_FAILED, PLAN_PENDING) if kind in said), "")


def _left_behind(kept: ReadOnly | None) -> str:
    """Why the installed version does not work, while the next one is on its way."""
    status = (kept or {}).get("status") or {}
    phase = str(status.get("phase") or "Pending")
    return f"{name_of(kept)} is {phase}: {_waited(status)}" if kept and phase not in _SETTLED else ""


def _is_stuck(trouble: ReadOnly) -> bool:
    # why: a resolution fails for other reasons, too, that pass by themselves
    return trouble.get("type") == "InstalledCSVMissing" or trouble.get("reason") == _UNSATISFIABLE


def _sentence(condition: ReadOnly, plan: str, *, works: bool) -> str:
    if condition.get("type") == PLAN_MISSING:  # OLM gives it no message
        return "its InstallPlan was deleted" + ("; nothing needs to be done" if works else "")
    reason, message = str(condition.get("reason") or ""), in_one_line(str(condition.get("message") or ""))
    if reason == _UNSATISFIABLE:
        return message
    return ": ".join(filter(None, (reason, message or (plan and f"InstallPlan {plan}"))))


def _waited(status: ReadOnly) -> str:
    """What a ClusterServiceVersion waits for, or failed with."""
    return lacking(status).replace(_FAILED * 2, _FAILED)
