"""What the spec and status of an InstallPlan say of it."""

from __future__ import annotations

from shared.api.manifest import ReadOnly

FINISHED = ("Present", "Created")


_HIGHEST = 2**53
"""What every reader of JSON understands; nobody counts that far, so a number beyond it is somebody's bait."""


def is_empty(plan: ReadOnly) -> bool:
    """Whether the plan has no steps: its status was not written yet, or somebody emptied it."""
    status = plan.get("status") or {}
    return not (status.get("plan") or status.get("bundleLookups"))


def is_approved(plan: ReadOnly) -> bool:
    """Whether `spec.approved` is true."""
    return (plan.get("spec") or {}).get("approved") is True


def planned_csvs(plan: ReadOnly) -> tuple[str, ...]:
    """Names of the ClusterServiceVersions that the plan installs."""
    return tuple(map(str, (plan.get("spec") or {}).get("clusterServiceVersionNames") or ()))


def generation_of(plan: ReadOnly) -> int:
    """`spec.generation`; 0 when it is no number that we would write."""
    return whole_number((plan.get("spec") or {}).get("generation"))


def whole_number(value: object) -> int:
    """The number, if it is one that can still be counted up; else 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _HIGHEST else 0
