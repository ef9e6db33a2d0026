"""Says in one line where a package stands and what it waits for; pure."""

from __future__ import annotations

from dataclasses import dataclass

from shared import names
from shared.api.manifest import ReadOnly, annotations_of

TROUBLES = (
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

    @property
    def is_done(self) -> bool:
        """It is installed and works."""
        return self.phase == "Succeeded"


def standing(subscription: ReadOnly, csv: ReadOnly | None) -> Standing:
    """Where a Subscription and its current CSV (None: not there yet) stand."""
    status = subscription.get("status") or {}
    current = str(status.get("currentCSV") or "")
    conditions = {each["type"]: each for each in status.get("conditions") or () if each.get("status") == "True"}
    trouble = next((conditions[kind] for kind in TROUBLES if kind in conditions), None)
    held = annotations_of(subscription).get(names.HOLD, "")
    says = "; ".join(filter(None, (held and f"held: {held}", _sentence(trouble or {}))))
    if csv is None:
        phase = str(trouble["type"]) if trouble else str(status.get("state") or "Resolving")
        return Standing(current, phase, says)
    facts = csv.get("status") or {}
    phase = str(facts.get("phase") or "Pending")
    if phase != "Succeeded":
        return Standing(current, phase, _unmet(facts) or str(facts.get("message") or ""))
    return Standing(current, phase, says)


def _sentence(condition: ReadOnly) -> str:
    return ": ".join(filter(None, (str(condition.get("reason") or ""), str(condition.get("message") or ""))))


def _unmet(status: ReadOnly) -> str:
    met = {"Present", "DeploymentFound", "Satisfied"}
    unmet = [each for each in status.get("requirementStatus") or () if each.get("status") not in met]
    return "; ".join(
        f"{each.get('kind')} {each.get('name')}: {each.get('message') or each['status']}" for each in unmet
    )
