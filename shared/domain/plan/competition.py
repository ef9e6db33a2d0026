"""Checks whether a version that a plan does not name may own its CRDs (catalog.md §4.5)."""

from __future__ import annotations

from collections.abc import Iterable

from shared.api.manifest import ReadOnly, name_of, namespace_of


def competing(csv: ReadOnly, live: Iterable[ReadOnly]) -> str:
    """Why not: another version of its namespace owns one of its CRDs already; empty when it may."""
    owners = {name_of(one): _owned(one) for one in live}
    for definition in _owned(csv):
        found = sorted(name for name, owned in owners.items() if definition in owned)
        if len(found) > 1:
            return (
                f"error checking crd owners for: {name_of(csv)}: Existing CSVs [{' '.join(found)}] in namespace "
                f"{namespace_of(csv)} all claim to own CRD {definition}"
            )
        if found and found != [name_of(csv)]:
            return f"pre-existing CRD owners found for owned CRD(s) of dependent CSV {name_of(csv)}"
    return ""


def _owned(csv: ReadOnly) -> list[str]:
    definitions = (csv.get("spec") or {}).get("customresourcedefinitions") or {}
    return [str(one.get("name")) for one in definitions.get("owned") or ()]
