"""The replacement chain of ClusterServiceVersions (csv.md §2.5, §4.11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shared.api.manifest import Manifest, ReadOnly, name_of
from shared.domain.objects.csv import is_copied


def replaces_of(csv: ReadOnly) -> str:
    """`spec.replaces`, empty when it replaces nothing (or claims to replace itself)."""
    replaced = str((csv.get("spec") or {}).get("replaces") or "")
    return "" if replaced == name_of(csv) else replaced


def predecessor(csv: ReadOnly, neighbours: Iterable[Manifest]) -> Manifest | None:
    """The version that it replaces, if it exists."""
    replaced = replaces_of(csv)
    return next((other for other in neighbours if replaced and name_of(other) == replaced), None)


def successors(csv: ReadOnly, neighbours: Iterable[Manifest]) -> tuple[Manifest, ...]:
    """The versions that replace it, sorted by name."""
    found = (other for other in neighbours if replaces_of(other) == name_of(csv) and not is_copied(other))
    return tuple(sorted(found, key=name_of))


def successor(csv: ReadOnly, neighbours: Iterable[Manifest]) -> Manifest | None:
    """The version that replaces it; of several, the first by name."""
    return next(iter(successors(csv, neighbours)), None)


def ancestors(csv: ReadOnly, neighbours: Iterable[ReadOnly]) -> tuple[ReadOnly, ...]:
    """The versions that it replaces, directly or indirectly, the newest first. A cycle ends where it would repeat."""
    by_name = {name_of(other): other for other in neighbours}
    found: dict[str, ReadOnly] = {}
    older = replaces_of(csv)
    while older in by_name and older not in (name_of(csv), *found):
        found[older] = by_name[older]
        older = replaces_of(by_name[older])
    return tuple(found.values())


def final(csv: Manifest, neighbours: tuple[Manifest, ...]) -> Manifest:
    """The last of its successors; itself without one. A cycle ends where it begins to repeat."""
    seen = {name_of(csv)}
    while (following := successor(csv, neighbours)) is not None and name_of(following) not in seen:
        csv = following
        seen.add(name_of(csv))
    return csv


def replacement_chain(csv: Manifest, neighbours: tuple[Manifest, ...]) -> frozenset[str]:
    """The names of the version, of all that replace it and of all that it replaces, directly or indirectly."""
    found: set[str] = set()
    ahead = [csv]
    while ahead:
        item = ahead.pop()
        if name_of(item) not in found:
            found.add(name_of(item))
            ahead.extend(successors(item, neighbours))
    return frozenset(found.union(map(name_of, ancestors(csv, neighbours))))


def installed_alongside(csv: ReadOnly, listed: Iterable[str], neighbours: Mapping[str, Manifest]) -> tuple[str, ...]:
    """Its ancestors among the neighbours that a CRD lists; none if it is listed itself (csv.md §5.3)."""
    names_listed = set(listed)
    if name_of(csv) in names_listed:
        return ()
    kept = {name for name in names_listed if name in neighbours and not is_copied(neighbours[name])}
    found: list[str] = []
    ancestor = replaces_of(csv)
    while ancestor in kept and ancestor not in found:
        found.append(ancestor)
        ancestor = replaces_of(neighbours[ancestor])
    return tuple(found)
