"""Whether an object is ready, by the probes of a ClusterObjectSet (v1.md §21.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from shared.api.manifest import Manifest, ReadOnly, labels_of, metadata
from shared.domain.extension.phases.order import group_version
from shared.domain.extension.selector import selects
from shared.domain.go.encode import json_text
from shared.domain.go.json import TYPES
from shared.domain.go.text import quoted

Status: TypeAlias = Literal["True", "False", "Unknown"]


@dataclass(frozen=True, slots=True)
class Result:
    """How an object stands, and what was seen."""

    status: Status
    messages: tuple[str, ...] = ()


class UnknownProbe(ValueError):
    """A probe is of no known type."""


def _is_condition(kind: str) -> Manifest:
    return {"type": "ConditionEqual", "conditionEqual": {"type": kind, "status": "True"}}


def _is_phase(phase: str) -> Manifest:
    return {"type": "FieldValue", "fieldValue": {"fieldPath": "status.phase", "value": phase}}


def _probe(group: str, kind: str, *assertions: Manifest) -> Manifest:
    selector = {"type": "GroupKind", "groupKind": {"group": group, "kind": kind}}
    return {"selector": selector, "assertions": list(assertions)}


_UPDATED: Final = {
    "type": "FieldsEqual",
    "fieldsEqual": {"fieldA": "status.updatedReplicas", "fieldB": "status.replicas"},
}
DEFAULT_PROBES: Final[tuple[ReadOnly, ...]] = (
    _probe("apiextensions.k8s.io", "CustomResourceDefinition", _is_condition("Established")),
    _probe("cert-manager.io", "Certificate", _is_condition("Ready")),
    _probe("cert-manager.io", "Issuer", _is_condition("Ready")),
    _probe("", "Namespace", _is_phase("Active")),
    _probe("", "PersistentVolumeClaim", _is_phase("Bound")),
    _probe("apps", "StatefulSet", _UPDATED, _is_condition("Available")),
    _probe("apps", "Deployment", _UPDATED, _is_condition("Available")),
)
"""What every revision of an extension is probed with; other kinds are ready once they are written."""


def probe(manifest: ReadOnly, probes: Iterable[ReadOnly]) -> Result:
    """How an object stands by all probes that select it. UnknownProbe."""
    return _all([_selected(manifest, one) for one in probes])


def _all(results: Sequence[Result]) -> Result:
    """Unknown before False before True, with the messages of that status only."""
    statuses: tuple[Status, ...] = ("Unknown", "False")
    seen = {result.status for result in results}
    status: Status = next((one for one in statuses if one in seen), "True")
    return Result(status, tuple(text for result in results if result.status == status for text in result.messages))


def _selected(manifest: ReadOnly, probe: ReadOnly) -> Result:
    if _is_outdated(_at(manifest, "status.observedGeneration"), manifest):
        return Result("Unknown", (".status outdated",))
    if not _selects(probe.get("selector") or {}, manifest):
        return Result("True")
    return _all([_assertion(one)(manifest) for one in probe.get("assertions") or ()])


def _is_outdated(observed: object, manifest: ReadOnly) -> bool:
    """Whether a status is about an older generation; what is no number says nothing."""
    return isinstance(observed, int) and observed != (metadata(manifest).get("generation") or 0)


def _selects(selector: ReadOnly, manifest: ReadOnly) -> bool:
    match selector.get("type"):
        case "GroupKind":
            desired = selector.get("groupKind") or {}
            identity = group_version(manifest)[0], manifest.get("kind")
            return identity == (desired.get("group") or "", desired.get("kind"))
        case "Label":
            return selects(selector.get("label"), labels_of(manifest))
    raise UnknownProbe(f"unknown progressionProbe selector type: {selector.get('type')}")


def _assertion(assertion: ReadOnly) -> Callable[[ReadOnly], Result]:
    match assertion.get("type"):
        case "ConditionEqual":
            return lambda manifest: _condition(manifest, **assertion["conditionEqual"])
        case "FieldsEqual":
            return lambda manifest: _fields(manifest, **assertion["fieldsEqual"])
        case "FieldValue":
            return lambda manifest: _value(manifest, **assertion["fieldValue"])
    raise UnknownProbe(f"unknown progressionProbe assertion probe type: {assertion.get('type')}")


def _condition(manifest: ReadOnly, *, type: str, status: str) -> Result:  # noqa: A002  # why: the name of the field
    listed = _at(manifest, "status.conditions")
    if isinstance(listed, _Absent):
        return Result("Unknown", ("missing .status.conditions",))
    for condition in listed if isinstance(listed, list) else (None,):
        if not isinstance(condition, Mapping):
            return Result("Unknown", ("malformed .status.conditions",))
        if condition.get("type") != type:
            continue
        if _is_outdated(condition.get("observedGeneration"), manifest):
            return Result("Unknown", (f'.status.condition["{type}"] outdated',))
        seen = condition.get("status")
        return Result("True" if seen == status else "False", (f'.status.condition["{type}"] is {seen}',))
    return Result("Unknown", (f'missing .status.condition["{type}"]',))


def _fields(manifest: ReadOnly, *, fieldA: str, fieldB: str) -> Result:  # noqa: N803  # why: the names of the fields
    first, second = _at(manifest, fieldA), _at(manifest, fieldB)
    for path, value in ((fieldA, first), (fieldB, second)):
        if isinstance(value, _Absent):
            return Result("False", (f'"{path}" missing',))
    if not _same(first, second):
        seen = f"expected: {json_text(first)} got: {json_text(second)}"
        return Result("False", (f'"{fieldA}" != "{fieldB}" {seen}',))
    return Result("True", (f'"{fieldA}" == "{fieldB}"',))


def _value(manifest: ReadOnly, *, fieldPath: str, value: str) -> Result:  # noqa: N803  # why: the names of the fields
    found = _at(manifest, fieldPath)
    if isinstance(found, _Absent):
        key = quoted(fieldPath)
        what = f"error locating key {key}; {found.obstacle}" if found.obstacle else f"missing key: {key}"
        return Result("False", (what,))
    where = f"value at key {quoted(fieldPath)}"
    if not _same(found, value):
        seen = f"expected: {json_text(value)} got: {json_text(found)}"
        return Result("False", (f"{where} != {quoted(value)}; {seen}",))
    return Result("True", (f"{where} == {quoted(value)}",))


@dataclass(frozen=True, slots=True)
class _Absent:
    """There is nothing at a path."""

    obstacle: str = ""
    """What the path runs into, when it leads through something that is no object."""


def _at(manifest: ReadOnly, path: str) -> Any:  # why: any JSON value
    """What is at a path, or _Absent."""
    parts = path.strip(".").split(".")
    found: Any = manifest
    for number, part in enumerate(parts, 1):
        if found is None:
            return _Absent()
        if not isinstance(found, Mapping):
            shown = found if isinstance(found, str) else json_text(found)
            kind = f"is of the type {TYPES[type(found)]}, expected map[string]interface{{}}"
            return _Absent(f".{'.'.join(parts[:number])} accessor error: {shown} {kind}")
        if part not in found:
            return _Absent()
        found = found[part]
    return found


def _same(one: object, other: object) -> bool:
    """Equal and of one type: a truth value is no number."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other
