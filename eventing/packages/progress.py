"""Says in one line where a package stands and what it waits for; pure."""

from __future__ import annotations

from dataclasses import dataclass

from shared.api.manifest import ReadOnly
from shared.domain.lifecycle.preparation import NOT_YET
from shared.domain.resolver.opt_in import opt_in_of

TROUBLES = (
    "InstalledCSVMissing",
    "ResolutionFailed",
    "BundleUnpackFailed",
    "InstallPlanFailed",
    "InstallPlanMissing",
    "CatalogSourcesUnhealthy",
    "BundleUnpacking",
    "InstallPlanPending",
)
"""Conditions of a Subscription that say why it does not go on, the gravest first."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a package stands."""

    version: str
    """Name of the CSV that is installed or on its way, empty before there is one."""
    phase: str
    """The phase of the CSV, or what the Subscription is at."""
    says: str = ""
    """What it waits for, or what went wrong."""

    held: str = ""
    """The version that a hold keeps, and why."""
    is_done: bool = False
    """The wanted version is installed and works, and nothing newer was found impossible."""
    is_stuck: bool = False
    """It does not go on before somebody changes what is wanted or offered."""


def standing(subscription: ReadOnly, csv: ReadOnly | None) -> Standing:
    """Where a Subscription and its current CSV (None: not there yet) stand."""
    status = subscription.get("status") or {}
    current = str(status.get("currentCSV") or "")
    conditions = {each["type"]: each for each in status.get("conditions") or () if each.get("status") == "True"}
    trouble = next((conditions[kind] for kind in TROUBLES if kind in conditions), None)
    wish, installed = opt_in_of(subscription), str(status.get("installedCSV") or "")
    hold = wish.why_held if installed else wish.hold
    facts = (csv or {}).get("status") or {}
    if csv is None:
        phase = str(trouble["type"]) if trouble else str(status.get("state") or "Resolving")
    else:
        phase = str(facts.get("phase") or "Pending")
    works = phase == "Succeeded"
    is_waiting_csv = csv is not None and not works
    news = (_unmet(facts) or str(facts.get("message") or "")) if is_waiting_csv else _sentence(trouble or {})
    return Standing(
        current,
        phase,
        says="; ".join(filter(None, (hold and f"held: {hold}", news))),
        held=f"{installed or 'no version yet'}: {hold}" if hold else "",
        is_done=works and installed == current and "ResolutionFailed" not in conditions,
        is_stuck=NOT_YET in news if is_waiting_csv else _is_stuck(trouble or {}) or bool(hold and not current),
    )


def _is_stuck(trouble: ReadOnly) -> bool:
    # why: a resolution fails for other reasons, too, that pass by themselves
    return trouble.get("type") == "InstalledCSVMissing" or trouble.get("reason") == "ConstraintsNotSatisfiable"


def _sentence(condition: ReadOnly) -> str:
    return ": ".join(filter(None, (str(condition.get("reason") or ""), str(condition.get("message") or ""))))


def _unmet(status: ReadOnly) -> str:
    met = {"Present", "DeploymentFound", "Satisfied"}
    unmet = [each for each in status.get("requirementStatus") or () if each.get("status") not in met]
    return "; ".join(
        f"{each.get('kind')} {each.get('name')}: {each.get('message') or each['status']}" for each in unmet
    )
