"""The upgrade strategy of an OperatorGroup (csv.md §3.2)."""

from __future__ import annotations

from collections.abc import Iterable

from shared.api.manifest import ReadOnly, namespace_of

FAIL_FORWARD = "TechPreviewUnsafeFailForward"
"""`spec.upgradeStrategy` of an OperatorGroup whose failed versions may be replaced."""


def fails_forward(namespace: str, groups: Iterable[ReadOnly]) -> bool:
    """Whether the OperatorGroup of the namespace allows the upgrade of a failed version."""
    return any(
        namespace_of(group) == namespace and (group.get("spec") or {}).get("upgradeStrategy") == FAIL_FORWARD
        for group in groups
    )
