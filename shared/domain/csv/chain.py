"""The replacement chain of ClusterServiceVersions (csv.md §2.5, §4.11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shared.api.views import Csv


def predecessor(csv: Csv, namespace_csvs: Iterable[Csv]) -> Csv | None:
    """The version that it replaces, if it exists."""
    return next((other for other in namespace_csvs if csv.predecessor and other.name == csv.predecessor), None)


def successors(csv: Csv, namespace_csvs: Iterable[Csv]) -> tuple[Csv, ...]:
    """The versions that replace it, sorted by name."""
    found = (other for other in namespace_csvs if other.predecessor == csv.name and not other.is_copy)
    return tuple(sorted(found, key=lambda one: one.name))


def successor(csv: Csv, namespace_csvs: Iterable[Csv]) -> Csv | None:
    """The version that replaces it; of several, the first by name."""
    return next(iter(successors(csv, namespace_csvs)), None)


def ancestors(csv: Csv, namespace_csvs: Iterable[Csv]) -> tuple[Csv, ...]:
    """The versions that it replaces, directly or indirectly, the newest first. A cycle ends where it would repeat."""
    by_name = {other.name: other for other in namespace_csvs}
    found: dict[str, Csv] = {}
    older = csv.predecessor
    while older in by_name and older not in (csv.name, *found):
        found[older] = by_name[older]
        older = by_name[older].predecessor
    return tuple(found.values())


def final(csv: Csv, namespace_csvs: tuple[Csv, ...]) -> Csv:
    """The last of its successors; itself without one. A cycle ends where it begins to repeat."""
    seen = {csv.name}
    while (following := successor(csv, namespace_csvs)) is not None and following.name not in seen:
        csv = following
        seen.add(csv.name)
    return csv


def replacement_chain(csv: Csv, namespace_csvs: tuple[Csv, ...]) -> frozenset[str]:
    """The names of the version, of all that replace it and of all that it replaces, directly or indirectly."""
    found: set[str] = set()
    ahead = [csv]
    while ahead:
        item = ahead.pop()
        if item.name not in found:
            found.add(item.name)
            ahead.extend(successors(item, namespace_csvs))
    return frozenset(found.union(one.name for one in ancestors(csv, namespace_csvs)))


def installed_alongside(csv: Csv, listed: Iterable[str], namespace_csvs: Mapping[str, Csv]) -> tuple[str, ...]:
    """Its ancestors among the neighbours that a CRD lists; none if it is listed itself (csv.md §5.3)."""
    names_listed = set(listed)
    if csv.name in names_listed:
        return ()
    kept = {name for name in names_listed if name in namespace_csvs and not namespace_csvs[name].is_copy}
    found: list[str] = []
    ancestor = csv.predecessor
    while ancestor in kept and ancestor not in found:
        found.append(ancestor)
        ancestor = namespace_csvs[ancestor].predecessor
    return tuple(found)
