"""The ClusterServiceVersions of a namespace, as the resolver's virtual catalog (resolver.md §2.5, §2.6)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from shared import names
from shared.api.views import ApiEntry, Csv, DefinitionEntry, OperatorGroup, Subscription
from shared.domain.bundle.projection import projected
from shared.domain.catalog.model import Property
from shared.domain.resolver.facts import Gvk
from shared.domain.resolver.identity import Installed


class IncoherentCSVs(ValueError):
    """The ClusterServiceVersions of a namespace cannot be read, or contradict each other; the message is OLM's."""


def existing(
    csvs: Sequence[Csv], subscriptions: Sequence[Subscription], groups: Sequence[OperatorGroup], *, is_whole: bool
) -> tuple[Installed, ...]:
    """The ClusterServiceVersions that count, copies aside. IncoherentCSVs.

    Whole is as in OLM. Otherwise a version whose successor is there only waits for its deletion, and binds nobody (§13
    B11), unless a Subscription has it installed and is not about to leave it for that successor. A copy is nobody's
    successor (§13 B25).
    """
    owners = {one.installed_csv: one.name for one in subscriptions}
    leaving = _failing(csvs, groups) if is_whole else _replaced(csvs, subscriptions)
    return tuple(
        Installed(
            csv.name,
            csv.version,
            of_csv(csv, (one.package for one in subscriptions if one.installed_csv == csv.name)),
            owners.get(csv.name, ""),
        )
        for csv in csvs
        if not csv.is_copy and csv.name not in leaving
    )


def _replaced(csvs: Iterable[Csv], subscriptions: Iterable[Subscription]) -> set[str]:
    following = {one.installed_csv: one.current_csv for one in subscriptions}
    pairs = ((csv.replaces, csv.name) for csv in csvs if not csv.is_copy)
    return {old for old, new in pairs if old and following.get(old, new) == new}


def of_csv(csv: Csv, packages: Iterable[str]) -> tuple[Property, ...]:
    """The properties in the annotation of a CSV, else those that its spec and its Subscription's package imply.

    IncoherentCSVs when the annotation cannot be read.
    """
    implied = tuple(_apis(csv))
    text = csv.annotations.get(names.PROPERTIES)
    if text is None:
        return (*implied, *_implied_package(csv, set(filter(None, packages))))
    try:
        return tuple(projected(text))
    except ValueError as error:
        where = f'failed to retrieve properties of csv "{csv.name}"'
        raise IncoherentCSVs(f"{where}: failed to unmarshal properties annotation: {error}") from error


def _apis(csv: Csv) -> Iterator[Property]:
    for kind, definitions, services, order in (
        ("olm.gvk", csv.owned_definitions, csv.owned_services, ("group", "kind", "version")),
        ("olm.gvk.required", csv.required_definitions, csv.required_services, ("group", "version", "kind")),
    ):
        values = [{part: getattr(api, part) for part in order} for api, _ in set(_provided(definitions, services))]
        yield from (Property(kind, value) for value in sorted(values, key=json.dumps))


def _provided(definitions: Iterable[DefinitionEntry], services: Iterable[ApiEntry]) -> Iterator[tuple[Gvk, str]]:
    """Each API with its plural; an API with two plurals is listed twice."""
    for entry in definitions:
        if "." not in entry.name:
            raise IncoherentCSVs(f"error parsing crd name: {entry.name}")
        yield Gvk(entry.group, entry.version, entry.kind), entry.plural
    for service in services:
        yield Gvk(service.group, service.version, service.kind), service.name


def _implied_package(csv: Csv, packages: set[str]) -> Iterator[Property]:
    if len(packages) == 1:
        version = "" if csv.version == "0.0.0" else csv.version
        yield Property("olm.package", {"packageName": packages.pop(), "version": version})


def _failing(csvs: Sequence[Csv], groups: Sequence[OperatorGroup]) -> set[str]:
    """Versions whose replacement failed: OLM leaves them out where the OperatorGroup allows fail-forward."""
    if len(groups) != 1 or not groups[0].fails_forward:
        return set()
    successors = {csv.replaces: csv for csv in csvs if csv.replaces}
    originals = [csv for csv in csvs if not csv.is_copy]
    ends = {csv.name: _end(csv, successors) for csv in originals}
    return {csv.name for csv in originals if csv.phase == "Replacing" and ends[csv.name] == "Failed"}


def _end(csv: Csv, successors: Mapping[str, Csv]) -> str:
    """The phase of the last version in the chain of replacements. IncoherentCSVs for a broken chain or a cycle."""
    seen: set[str] = set()
    while (following := successors.get(csv.name)) is not None:
        where = f"csv {csv.namespace}/{csv.name}"
        if csv.phase != "Replacing":
            raise IncoherentCSVs(f"{where} in phase {csv.phase} instead of Replacing")
        if csv.name in seen:
            raise IncoherentCSVs(f"{where} has already been seen")
        seen.add(csv.name)
        csv = following
    return csv.phase
