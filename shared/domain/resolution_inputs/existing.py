"""The ClusterServiceVersions of a namespace, as the resolver's virtual catalog (resolver.md §2.5, §2.6)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from shared import names
from shared.api.manifest import ReadOnly, annotations_of, name_of, namespace_of
from shared.domain.catalog.model import Property
from shared.domain.catalog.shapes import RAW, list_of, struct, why_not
from shared.domain.go.json import loads
from shared.domain.objects.csv import phase_of
from shared.domain.objects.subscription import installed_csv
from shared.domain.operator_groups.upgrade_strategy import FAIL_FORWARD
from shared.domain.resolver.copies import is_copy
from shared.domain.resolver.facts import Gvk
from shared.domain.resolver.identity import Installed

_STATED: Final = struct("projection.property", "type", value=RAW)
_ANNOTATION: Final = struct("projection.propertiesAnnotation", properties=list_of(_STATED))


class IncoherentCSVs(ValueError):
    """The ClusterServiceVersions of a namespace cannot be read, or contradict each other; the message is OLM's."""


def existing(
    csvs: Sequence[ReadOnly], subscriptions: Sequence[ReadOnly], groups: Sequence[ReadOnly], *, is_whole: bool
) -> tuple[Installed, ...]:
    """The ClusterServiceVersions that count, copies aside. IncoherentCSVs.

    Whole is as in OLM. Otherwise a version whose successor is there only waits for its deletion, and binds nobody (§13
    B11), unless a Subscription has it installed and is not about to leave it for that successor. A copy is nobody's
    successor (§13 B25).
    """
    owners = {installed_csv(one): name_of(one) for one in subscriptions}
    leaving = _failing(csvs, groups) if is_whole else _replaced(csvs, subscriptions)
    return tuple(
        Installed(
            name_of(csv),
            str(_spec(csv).get("version") or ""),
            of_csv(csv, (_package(one) for one in subscriptions if installed_csv(one) == name_of(csv))),
            owners.get(name_of(csv), ""),
        )
        for csv in csvs
        if not is_copy(csv) and name_of(csv) not in leaving
    )


def _replaced(csvs: Iterable[ReadOnly], subscriptions: Iterable[ReadOnly]) -> set[str]:
    following = {installed_csv(one): (one.get("status") or {}).get("currentCSV") for one in subscriptions}
    pairs = ((_spec(csv).get("replaces"), name_of(csv)) for csv in csvs if not is_copy(csv))
    return {old for old, new in pairs if old and following.get(old, new) == new}


def of_csv(csv: ReadOnly, packages: Iterable[str]) -> tuple[Property, ...]:
    """The properties in the annotation of a CSV, else those that its spec and its Subscription's package imply.

    IncoherentCSVs when the annotation cannot be read.
    """
    implied = tuple(_apis(csv))
    text = annotations_of(csv).get(names.PROPERTIES)
    if text is None:
        return (*implied, *_implied_package(csv, set(filter(None, packages))))
    try:
        return tuple(_annotated(text))
    except ValueError as error:
        where = f'failed to retrieve properties of csv "{name_of(csv)}"'
        raise IncoherentCSVs(f"{where}: failed to unmarshal properties annotation: {error}") from error


def _annotated(text: str) -> Iterator[Property]:
    """The properties in an annotation, read as Go reads a struct. ValueError."""
    value = loads(text.encode())
    if why := why_not(_ANNOTATION, value):
        raise ValueError(why)
    for one in map(_STATED.read, _ANNOTATION.read(value).get("properties") or ()):
        yield Property(one.get("type") or "", one.get("value"))


def _apis(csv: ReadOnly) -> Iterator[Property]:
    for kind, key, order in (
        ("olm.gvk", "owned", ("group", "kind", "version")),
        ("olm.gvk.required", "required", ("group", "version", "kind")),
    ):
        values = [{part: getattr(api, part) for part in order} for api, _ in set(_stated(csv, key))]
        yield from (Property(kind, value) for value in sorted(values, key=json.dumps))


def _stated(csv: ReadOnly, key: str) -> Iterator[tuple[Gvk, str]]:
    """Each API with its plural; an API with two plurals is listed twice."""
    for one in (_spec(csv).get("customresourcedefinitions") or {}).get(key) or ():
        plural, dot, group = str(one.get("name") or "").partition(".")
        if not dot:
            raise IncoherentCSVs(f"error parsing crd name: {plural}")
        yield _api(group, one), plural
    for one in (_spec(csv).get("apiservicedefinitions") or {}).get(key) or ():
        yield _api(str(one.get("group") or ""), one), str(one.get("name") or "")


def _api(group: str, one: ReadOnly) -> Gvk:
    return Gvk(group, str(one.get("version") or ""), str(one.get("kind") or ""))


def _implied_package(csv: ReadOnly, packages: set[str]) -> Iterator[Property]:
    if len(packages) == 1:
        version = str(_spec(csv).get("version") or "")
        yield Property("olm.package", {"packageName": packages.pop(), "version": "" if version == "0.0.0" else version})


def _failing(csvs: Sequence[ReadOnly], groups: Sequence[ReadOnly]) -> set[str]:
    """Versions whose replacement failed: OLM leaves them out where the OperatorGroup allows fail-forward."""
    if len(groups) != 1 or _spec(groups[0]).get("upgradeStrategy") != FAIL_FORWARD:
        return set()
    successors = {replaces: csv for csv in csvs if (replaces := _spec(csv).get("replaces"))}
    originals = [csv for csv in csvs if not is_copy(csv)]
    ends = {name_of(csv): _end(csv, successors) for csv in originals}
    return {name_of(csv) for csv in originals if phase_of(csv) == "Replacing" and ends[name_of(csv)] == "Failed"}


def _end(csv: ReadOnly, successors: Mapping[str, ReadOnly]) -> str:
    """The phase of the last version in the chain of replacements. IncoherentCSVs for a broken chain or a cycle."""
    seen: set[str] = set()
    while (following := successors.get(name_of(csv))) is not None:
        where = f"csv {namespace_of(csv)}/{name_of(csv)}"
        if phase_of(csv) != "Replacing":
            raise IncoherentCSVs(f"{where} in phase {phase_of(csv)} instead of Replacing")
        if name_of(csv) in seen:
            raise IncoherentCSVs(f"{where} has already been seen")
        seen.add(name_of(csv))
        csv = following
    return phase_of(csv)


def _spec(manifest: ReadOnly) -> ReadOnly:
    return manifest.get("spec") or {}


def _package(subscription: ReadOnly) -> str:
    return str(_spec(subscription).get("name") or "")
