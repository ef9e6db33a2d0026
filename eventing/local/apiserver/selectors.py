"""Parses label and field selectors into predicates."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from eventing.local.apiserver.failures import bad_request
from eventing.local.apiserver.resources import Resource
from shared.api.manifest import ReadOnly, metadata
from shared.domain.selectors import SelectorError, parsed

Predicate: TypeAlias = Callable[[ReadOnly], bool]


def labels(text: str) -> Predicate:
    """The predicate of a label selector such as `a=b,c!=d,e in (f,g),h,!i`."""
    try:
        matches = parsed(text)
    except SelectorError as error:
        raise bad_request(str(error)) from error
    return lambda manifest: matches(metadata(manifest).get("labels") or {})


_TERM = re.compile(r"(?:\\.|[^,\\])+")
_ESCAPED = re.compile(r"\\(.)")
"""A value has a backslash before each comma, equals sign and backslash."""


def fields(text: str, known: Sequence[str]) -> Predicate:
    """The predicate of a field selector such as `metadata.name=x,metadata.namespace!=y` on known fields."""
    tests: list[tuple[str, bool, str]] = []
    for part in _TERM.findall(text):
        found = re.fullmatch(r"([\w.]+)(==|=|!=)(.*)", part.strip())
        if not found:
            raise bad_request(f"invalid selector: '{part}'; can't understand '{part}'")
        path, operator, value = found.groups()
        if path not in known:
            raise bad_request(f"field label not supported: {path}")
        tests.append((path, operator != "!=", _ESCAPED.sub(r"\1", value)))
    return lambda manifest: all((_at(manifest, path) == value) is desired for path, desired, value in tests)


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
