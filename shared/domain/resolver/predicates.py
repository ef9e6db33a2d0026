"""Which operators satisfy a requirement: predicates that compose and have OLM's text (resolver.md §4.1–4.3)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from shared.domain.catalog.model import Property
from shared.domain.go.text import fold, quoted
from shared.domain.resolver.cel import InvalidRule, rule
from shared.domain.resolver.facts import Gvk, Undecodable, gvk, text, texts
from shared.domain.resolver.operators import Operator
from shared.domain.semver import InvalidRange, Range, parse_range, version_or_none

MAX_CONSTRAINT_BYTES = 131072
"""An `olm.constraint` longer than this is refused."""

PINNED = ("packageName", "versionRange")
"""The fields of an `olm.package.required`."""

Sought = tuple[str, str | Gvk]
"""Where to look: `("package", name)` or `("api", gvk)`."""


class InvalidConstraint(ValueError):
    """A property states a requirement that cannot be read, so its bundle cannot be resolved."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """A test of one operator."""

    text: str
    """OLM's text."""
    holds: Callable[[Operator], bool]
    seeks: frozenset[Sought] | None = None
    """Only operators found there can pass; None: any might."""
    parts: tuple[object, ...] = ()
    """The predicates that it combines: OLM's text lacks brackets and a "not", so different tests can read the same."""
    words: str = ""
    """What is wanted, where that can be said more plainly than OLM does."""
    identity: tuple[object, ...] = field(init=False)
    """Equal for predicates that test the same."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "identity", (self.text, *self.parts))

    @property
    def plain(self) -> str:
        """What is wanted, in plain words."""
        return self.words or f"an operator {self.text}"


def requirements(properties: Iterable[Property]) -> tuple[Predicate, ...]:
    """What an operator with these properties requires, each once, in order. InvalidConstraint when one is wrong."""
    found: dict[object, Predicate] = {}
    known = {id(one): one for one in properties if one.type in _READERS}  # registries list dependencies twice
    for one in known.values():
        predicate = _READERS[one.type](one.value)
        found.setdefault(predicate.identity, predicate)
    return tuple(found.values())


@lru_cache(maxsize=4096)
def providing(api: Gvk) -> Predicate:
    """Operators that state the API."""
    text = f"providing an API with group: {api.group}, version: {api.version}, kind: {api.kind}"
    words = f"kind {api.kind} of {api.group}/{api.version}"
    return Predicate(text, lambda one: api in one.facts.apis, frozenset({("api", api)}), words=words)


def of_package(name: str) -> Predicate:
    """Operators of a package: by their catalog, or by an `olm.package` property."""
    return Predicate(f"with package: {name}", lambda one: is_of_package(one, name), frozenset({("package", name)}))


def is_of_package(one: Operator, name: str) -> bool:
    """Whether the operator counts as one of the package."""
    return one.package == name or any(package.name == name for package in one.facts.packages)


def in_range(versions: Range) -> Predicate:
    """Operators with a version in the range: that of the bundle, or of any of its `olm.package` properties."""

    def holds(one: Operator) -> bool:
        declared = [package.version for package in one.facts.packages]
        return any(version is not None and version in versions for version in (one.version, *declared))

    return Predicate(f"with version in range: {versions.text}", holds)


def both(*predicates: Predicate) -> Predicate:
    """Operators that pass all predicates."""
    seeks = next((one.seeks for one in predicates if one.seeks is not None), None)
    text, parts = " and ".join(one.text for one in predicates), _parts("all", predicates)
    return Predicate(text, lambda one: all(each.holds(one) for each in predicates), seeks, parts, _words(predicates))


def either(*predicates: Predicate) -> Predicate:
    """Operators that pass any predicate."""
    sought = [one.seeks for one in predicates]
    seeks = None if None in sought else frozenset().union(*(one_of for one_of in sought if one_of is not None))
    text, parts = " or ".join(one.text for one in predicates), _parts("any", predicates)
    return Predicate(text, lambda one: any(each.holds(one) for each in predicates), seeks, parts, _words(predicates))


def none_of(*predicates: Predicate) -> Predicate:
    """Operators that pass no predicate; OLM's text lacks the first "not"."""
    text, parts = " and not ".join(one.text for one in predicates), _parts("not", predicates)
    words = f"an operator not {text}"
    return Predicate(text, lambda one: not any(each.holds(one) for each in predicates), parts=parts, words=words)


def _words(predicates: Sequence[Predicate]) -> str:
    """The plain words of the only predicate; of several there are none."""
    return predicates[0].words if len(predicates) == 1 else ""


def _parts(how: str, predicates: Iterable[Predicate]) -> tuple[object, ...]:
    return (how, *(one.identity for one in predicates))


def _api(value: object) -> Predicate:
    try:
        return providing(gvk(value))
    except Undecodable as error:
        raise InvalidConstraint(str(error)) from error


def _package(value: object) -> Predicate:
    try:
        return _pinned(*texts(value, PINNED))
    except (Undecodable, InvalidRange) as error:
        raise InvalidConstraint(str(error)) from error


@lru_cache(maxsize=4096)
def _pinned(name: str, versions: str) -> Predicate:
    noun = "versions" if version_or_none(versions) is None else "version"
    found = both(of_package(name), in_range(parse_range(versions)))
    return replace(found, words=f"package {name} in {noun} {versions}")


def _label(value: object) -> Predicate:
    try:
        label = text(value, "label")
    except Undecodable as error:
        raise InvalidConstraint(str(error)) from error
    return Predicate(f"with label: {label}", lambda one: label in one.facts.labels)


def _constraint(value: object) -> Predicate:
    try:
        return _read(value)
    except RecursionError as error:  # Go stops at 3332 compounds inside each other, we do somewhat earlier
        raise InvalidConstraint("parse olm.constraint: exceeded max depth") from error


def _read(value: object) -> Predicate:
    size = len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())
    if size > MAX_CONSTRAINT_BYTES:
        what = f"olm.constraint value is greater than max constraint size {MAX_CONSTRAINT_BYTES} bytes"
        raise InvalidConstraint(f"parse olm.constraint: {what}")
    try:
        decoded = _decoded(value)
    except Undecodable as error:
        raise InvalidConstraint(f"parse olm.constraint: {error}") from error
    try:
        return _converted(decoded)
    except (Undecodable, InvalidConstraint, InvalidRange, InvalidRule) as error:
        raise InvalidConstraint(f"convert olm.constraint to resolver predicate: {error}") from error


_FIELDS: Mapping[str, frozenset[str]] = {
    "gvk": frozenset({"group", "kind", "version"}),
    "package": frozenset({"packageName", "versionRange"}),
    "cel": frozenset({"rule"}),
    "all": frozenset({"constraints"}),
    "any": frozenset({"constraints"}),
    "not": frozenset({"constraints"}),
}
_COMPOUNDS: Mapping[str, Callable[..., Predicate]] = {"all": both, "any": either, "not": none_of}
_FOLDED = {fold(key): key for key in ("failureMessage", *_FIELDS)}


def _decoded(value: object) -> dict[str, Any]:
    """A constraint with its keys as the schema spells them. Undecodable for what Go's strict decoder refuses."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise Undecodable("json: cannot unmarshal into Go value of type constraints.Constraint")
    found: dict[str, Any] = {}
    for key, content in value.items():
        name = _FOLDED.get(fold(key))
        if name is None:
            raise Undecodable(f"json: unknown field {quoted(key)}")
        if content is not None:
            found[name] = text({name: content}, name) if name == "failureMessage" else _part(name, content)
    return found


def _part(name: str, content: object) -> dict[str, Any]:
    if not isinstance(content, Mapping):
        raise Undecodable(f"json: cannot unmarshal into Go struct field Constraint.{name}")
    fields = {fold(field): field for field in _FIELDS[name]}
    for key in content:
        if fold(key) not in fields:
            raise Undecodable(f"json: unknown field {quoted(key)}")
    if name not in _COMPOUNDS:
        return {field: text(content, field) for field in _FIELDS[name]}
    inner = next((part for key, part in content.items() if fold(key) == "constraints"), None)
    if inner is not None and not isinstance(inner, list):
        raise Undecodable(f"json: cannot unmarshal into Go struct field Constraint.{name}.constraints")
    return {"constraints": [_decoded(part) for part in inner or ()]}


def _converted(constraint: Mapping[str, Any]) -> Predicate:
    """The first kind that is present counts, in OLM's order; the others are ignored."""
    if (api := constraint.get("gvk")) is not None:
        return _api(api)
    if (package := constraint.get("package")) is not None:
        return _package(package)
    for key, combined in _COMPOUNDS.items():
        if (compound := constraint.get(key)) is not None:
            return combined(*map(_converted, compound["constraints"]))
    if (cel := constraint.get("cel")) is not None:
        return _cel(cel["rule"], constraint.get("failureMessage") or "")
    raise InvalidConstraint("constraint is empty")


def _cel(source: str, message: str) -> Predicate:
    compiled = rule(source)
    words = f"with constraint: {quoted(source)} and message: {quoted(message)}"
    return Predicate(words, lambda one: compiled(one.facts.properties))


_READERS: Mapping[str, Callable[[object], Predicate]] = {
    "olm.gvk.required": _api,
    "olm.package.required": _package,
    "olm.label.required": _label,
    "olm.constraint": _constraint,
}
