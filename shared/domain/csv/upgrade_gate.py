"""Checks whether the installed operator allows its upgrade (`Upgradeable`, csv.md §11.4)."""

from __future__ import annotations

from collections.abc import Mapping

from shared.api.manifest import Manifest, ReadOnly, metadata, name_of, namespace_of
from shared.kinds import OPERATOR_CONDITION, Ref


def refusal(predecessor: ReadOnly, objects: Mapping[Ref, Manifest | None]) -> str:
    """Why the predecessor must not be replaced now; empty when it may, also without an OperatorCondition."""
    condition = objects.get(OPERATOR_CONDITION.ref(name_of(predecessor), namespace_of(predecessor)))
    if condition is None:
        return ""
    override = _upgradeable((condition.get("spec") or {}).get("overrides"))
    if override is not None:
        return "" if override.get("status") == "True" else _refused(override)
    stated = _upgradeable((condition.get("status") or {}).get("conditions"))
    if stated is None:
        return ""
    if (stated.get("observedGeneration") or 0) != (metadata(condition).get("generation") or 0):
        return f'the operatorcondition status "Upgradeable"="{stated.get("status")}" is outdated'
    return _refused(stated) if stated.get("status") == "False" else ""


def _upgradeable(conditions: list[Manifest] | None) -> Manifest | None:
    return next((item for item in conditions or () if item.get("type") == "Upgradeable"), None)


def _refused(condition: ReadOnly) -> str:
    return f"the operator is not upgradeable: {condition.get('message') or ''}"
