"""What a bundle provides and what it requires, read from its properties (resolver.md §4)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from shared.domain.catalog.model import Property
from shared.domain.resolver.versions import is_in_range


class Gvk(NamedTuple):
    """One API."""

    group: str
    version: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind} ({self.group}/{self.version})"


@dataclass(frozen=True, slots=True)
class Provided:
    """What one bundle or installed CSV offers to others."""

    name: str
    packages: tuple[tuple[str, str], ...] = ()
    """Name and version of each `olm.package` property."""
    apis: frozenset[Gvk] = frozenset()
    labels: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Requirement:
    """Something that one single provider must fulfil."""

    text: str
    is_met_by: Callable[[Provided], bool]


def provided(name: str, properties: Iterable[Property]) -> Provided:
    """The facts among the properties; a fact that cannot be read is none."""
    packages, apis, labels = [], set(), set()
    for stated in properties:
        match stated.type, stated.value:
            case "olm.package", {"packageName": str(package), **more}:
                packages.append((package, str(more.get("version") or "")))
            case "olm.gvk", {"group": str(group), "version": str(version), "kind": str(kind)}:
                apis.add(Gvk(group, version, kind))
            case "olm.label", {"label": str(label)}:
                labels.add(label)
    return Provided(name, tuple(packages), frozenset(apis), frozenset(labels))


def required(properties: Iterable[Property]) -> tuple[Requirement, ...]:
    """Each distinct requirement among the properties, once. ValueError when one cannot be read."""
    found: dict[str, Requirement] = {}
    for stated in properties:
        reader = _READERS.get(stated.type)
        if reader is not None:
            try:
                requirement = reader(stated.value)
            except (AttributeError, TypeError) as error:
                raise ValueError(f"property {stated.type}: {json.dumps(stated.value)}: {error}") from error
            found[requirement.text] = requirement
    return tuple(found[text] for text in sorted(found))


def _api(value: Mapping[str, Any]) -> Requirement:
    wanted = Gvk(*(str(value.get(key) or "") for key in Gvk._fields))
    text = f"an operator providing an API with group: {wanted.group}, version: {wanted.version}, kind: {wanted.kind}"
    return Requirement(text, lambda one: wanted in one.apis)


def _package(value: Mapping[str, Any]) -> Requirement:
    name, versions = str(value.get("packageName") or ""), str(value.get("versionRange") or "")
    is_in_range("0.0.0", versions)  # an unreadable range is the author's error, not an unmet wish
    return Requirement(
        f"an operator with package: {name} and with version in range: {versions}",
        lambda one: any(name == package and is_in_range(version, versions) for package, version in one.packages),
    )


def _label(value: Mapping[str, Any]) -> Requirement:
    label = str(value.get("label") or "")
    return Requirement(f"an operator with label: {label}", lambda one: label in one.labels)


def _constraint(value: Mapping[str, Any]) -> Requirement:
    """`olm.constraint`: the first kind present counts; a rule in CEL is not evaluated yet, so nobody meets it."""
    if (api := value.get("gvk")) is not None:
        return _api(api)
    if (package := value.get("package")) is not None:
        return _package(package)
    for key, joined, verdict in _COMPOUNDS:
        if (inner := value.get(key)) is not None:
            parts = [_constraint(part) for part in inner.get("constraints") or ()]
            return Requirement(joined.join(part.text for part in parts), _compound(parts, verdict))
    if (cel := value.get("cel")) is not None:
        message = value.get("failureMessage") or "a rule in CEL, which is not evaluated yet"
        return Requirement(f"an operator with constraint: {json.dumps(cel.get('rule'))} ({message})", lambda _: False)
    raise ValueError("convert olm.constraint to resolver predicate: constraint is empty")


def _compound(parts: Iterable[Requirement], verdict: Callable[[Iterable[bool]], bool]) -> Callable[[Provided], bool]:
    return lambda one: verdict(part.is_met_by(one) for part in parts)


def _none(verdicts: Iterable[bool]) -> bool:
    return not any(verdicts)


_COMPOUNDS: tuple[tuple[str, str, Callable[[Iterable[bool]], bool]], ...] = (
    ("all", " and ", all),
    ("any", " or ", any),
    ("not", " and not ", _none),
)
_READERS: Mapping[str, Callable[[Mapping[str, Any]], Requirement]] = {
    "olm.gvk.required": _api,
    "olm.package.required": _package,
    "olm.label.required": _label,
    "olm.constraint": _constraint,
}
