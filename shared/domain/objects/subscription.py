"""The versions that the status of a Subscription names."""

from __future__ import annotations

from shared.api.manifest import ReadOnly


def installed_csv(subscription: ReadOnly) -> str:
    """The ClusterServiceVersion that is installed; empty before there is one."""
    return _named(subscription, "installedCSV")


def current_csv(subscription: ReadOnly) -> str:
    """The ClusterServiceVersion that is installed or on its way; empty before there is one."""
    return _named(subscription, "currentCSV")


def _named(subscription: ReadOnly, field: str) -> str:
    return str((subscription.get("status") or {}).get(field) or "")


def plan_of(subscription: ReadOnly) -> str:
    """The name of the InstallPlan that the status refers to."""
    return str(((subscription.get("status") or {}).get("installPlanRef") or {}).get("name") or "")
