"""Parses label and field selectors into predicates."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from eventing.local.apiserver.failures import bad_request
from eventing.local.apiserver.resources import Resource
from shared.api.manifest import ReadOnly, metadata
from shared.domain.syntax import LABEL_VALUE

Predicate: TypeAlias = Callable[[ReadOnly], bool]

_REQUIREMENT = re.compile(r"\s*(?:(?P<key>[^\s=!,()]+)\s+(?P<set>in|notin)\s*\((?P<values>[^)]*)\)"
                          r"|(?P<name>[^\s=!,()]+)\s*(?P<op>==|=|!=)\s*(?P<value>[^\s=!,()]*)"
                          r"|(?P<absent>!\s*)?(?P<exists>[^\s=!,()]+))\s*(?:,|$)")  # fmt: skip


def labels(text: str) -> Predicate:
    """The predicate of a label selector such as `a=b,c!=d,e in (f,g),h,!i`."""
    tests: list[Callable[[ReadOnly], bool]] = []
    position = 0
    if text.rstrip().endswith(","):
        raise bad_request("found '', expected: identifier after ','")
    while position < len(text):
        found = _REQUIREMENT.match(text, position)
        if not found:
            raise bad_request(f"unable to parse requirement: {text[position:]!r}")
        tests.append(_label_test(found))
        position = found.end()

    def matches(manifest: ReadOnly) -> bool:
        present = metadata(manifest).get("labels") or {}
        return all(test(present) for test in tests)

    return matches


def _label_test(found: re.Match[str]) -> Callable[[ReadOnly], bool]:
    if key := found["key"]:
        values = {value.strip() for value in found["values"].split(",")}
        _check(key, sorted(values))
        if found["set"] == "in":
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    if name := found["name"]:
        value = found["value"]
        _check(name, [value])
        if found["op"] == "!=":
            return lambda labels: labels.get(name) != value
        return lambda labels: labels.get(name) == value
    exists, wanted = found["exists"], not found["absent"]
    return lambda labels: (exists in labels) is wanted


def _check(key: str, values: Sequence[str]) -> None:
    """400 for a value that no label can have."""
    for index, value in enumerate(values):
        for problem in LABEL_VALUE.problems(value):
            where = f'values[{index}][{key}]: Invalid value: "{value}"'
            raise bad_request(f"unable to parse requirement: {where}: {problem}")


def fields(text: str, known: Sequence[str]) -> Predicate:
    """The predicate of a field selector such as `metadata.name=x,metadata.namespace!=y` on known fields."""
    tests: list[tuple[str, bool, str]] = []
    for part in filter(None, text.split(",")):
        found = re.fullmatch(r"([\w.]+)(==|=|!=)(.*)", part.strip())
        if not found:
            raise bad_request(f"invalid selector: '{part}'; can't understand '{part}'")
        path, operator, value = found.groups()
        if path not in known:
            raise bad_request(f"field label not supported: {path}")
        tests.append((path, operator != "!=", value))
    return lambda manifest: all((_at(manifest, path) == value) is wanted for path, wanted, value in tests)


def selectable(resource: Resource) -> tuple[str, ...]:
    """The fields of a kind that a field selector may name."""
    if not resource.is_custom:
        return ("metadata.name", "metadata.namespace", *_FIELDS.get(resource.kind, ()))
    return ("metadata.name", *(["metadata.namespace"] if resource.is_namespaced else []), *resource.selectable)


_FIELDS: dict[str, tuple[str, ...]] = {
    "Pod": ("spec.nodeName", "spec.restartPolicy", "spec.serviceAccountName", "status.phase"),
    "Event": (
        "involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
        "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
        "reportingComponent", "source", "type",
    ),
    "Namespace": ("status.phase",),
    "Secret": ("type",),
    "Node": ("spec.unschedulable",),
    "Job": ("status.successful",),
    "Service": ("spec.clusterIP", "spec.type"),
    "ReplicaSet": ("status.replicas",),
}  # fmt: skip


def _at(manifest: ReadOnly, path: str) -> str:
    value: object = manifest
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
