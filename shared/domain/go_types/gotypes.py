"""Objects as Go's types hold them once they were converted: known fields only, in their order, empty ones left out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from shared.api.manifest import Manifest
from shared.domain.go_types.decoding import NEITHER, check_object
from shared.domain.go_types.goscalars import READERS, ZEROES, MisfitError, Reader, kind_of, text
from shared.domain.go_types.typetables import Field, structs

_ALWAYS: Final = frozenset("qx")
"""Types that are never empty to Go."""
_SCHEMA: Final = "JSONSchemaProps"
_NAMED: Final = {
    place: name
    for name, *places in (
        ("v1.Capability", "Capabilities.add", "Capabilities.drop"),
        ("v1.DNSPolicy", "PodSpec.dnsPolicy"),
        ("v1.DeploymentStrategyType", "DeploymentStrategy.type"),
        ("v1.FailurePolicyType", "WebhookDescription.failurePolicy"),
        ("v1.LabelSelectorOperator", "LabelSelectorRequirement.operator"),
        ("v1.MatchPolicyType", "WebhookDescription.matchPolicy"),
        ("v1.NodeSelectorOperator", "NodeSelectorRequirement.operator"),
        ("v1.OperationType", "RuleWithOperations.operations"),
        ("v1.Protocol", "ContainerPort.protocol"),
        ("v1.PullPolicy", "Container.imagePullPolicy"),
        ("v1.ReinvocationPolicyType", "WebhookDescription.reinvocationPolicy"),
        ("v1.ResourceScope", "CustomResourceDefinitionSpec.scope"),
        ("v1.RestartPolicy", "PodSpec.restartPolicy"),
        ("v1.ScopeType", "RuleWithOperations.scope"),
        ("v1.SideEffectClass", "WebhookDescription.sideEffects"),
        ("v1.TaintEffect", "Toleration.effect"),
        ("v1.TerminationMessagePolicy", "Container.terminationMessagePolicy"),
        ("v1.TolerationOperator", "Toleration.operator"),
        ("v1.URIScheme", "HTTPGetAction.scheme"),
        ("v1alpha1.InstallModeType", "InstallMode.type"),
        ("v1alpha1.WebhookAdmissionType", "WebhookDescription.type"),
    )
    for place in places
}
"""Texts that Go knows by names of their own."""


def converted(value: object, name: str) -> Manifest:
    """An object as the type of that name. MisfitError, in the words of Go, when it does not fit."""
    found: Manifest = _reader(name)(value)
    return found


@cache
def _reader(kind: str, named: str = "") -> Reader:
    """The reader of a type; `named` is what Go calls its texts."""
    kind = kind.removeprefix("*")
    if kind in READERS:
        return text(named) if named else READERS[kind]
    if kind.startswith("["):
        return _list_reader(kind[1:-1], named)
    if kind.startswith("{"):
        return _map_reader(kind[1:-1])
    return _UNIONS[kind] if kind in _UNIONS else _struct_reader(kind)


def _list_reader(kind: str, named: str) -> Reader:
    def read(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise MisfitError(f"cannot restore slice from {kind_of(value)}")
        item = _reader(kind, named)
        return [zero(kind) if one is None else item(one) for one in value]

    return read


def _map_reader(kind: str) -> Reader:
    def read(value: Any) -> Manifest:
        if not isinstance(value, dict):
            raise MisfitError(f"cannot restore map from {kind_of(value)}")
        item = _reader(kind)
        return {key: zero(kind) if value[key] is None else item(value[key]) for key in sorted(value)}

    return read


def _struct_reader(name: str) -> Reader:
    fields = {field.name: field for field in structs()[name]}
    order = {field: number for number, field in enumerate(fields)}
    kept = {field.name for field in fields.values() if _is_kept(field)}
    never_empty = kept | {field.name for field in fields.values() if field.is_pointer}
    readers: dict[str, Reader] = {}  # found when first asked for: types contain themselves

    def read(value: Any) -> Manifest:
        if not isinstance(value, dict):
            raise MisfitError(f"cannot restore struct from: {kind_of(value)}")
        written: Manifest = {}
        for key in sorted((value.keys() & fields.keys()) | kept, key=order.__getitem__):
            stated = value.get(key)
            if stated is None:
                if key in kept:
                    written[key] = zero(fields[key].type)
                continue
            if key not in readers:
                readers[key] = _reader(fields[key].type, _NAMED.get(f"{name}.{key}", ""))
            found = readers[key](stated)
            if found or key in never_empty:
                written[key] = found
        return written

    return read


def _is_kept(field: Field) -> bool:
    return field.is_required or field.type in _ALWAYS or field.type in structs()


def zero(kind: str) -> Any:
    """What Go writes for a value that nobody stated."""
    return converted({}, kind) if kind in structs() else ZEROES.get(kind)


def _schema_or_boolean(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, Mapping):
        return _schema(value)
    raise MisfitError(NEITHER)


def _schema_or_schemas(value: Any) -> Any:
    if isinstance(value, list):
        return _reader(f"[{_SCHEMA}]")(value) or None
    return _schema(value) if isinstance(value, Mapping) else None


def _schema_or_texts(value: Any) -> Any:
    if isinstance(value, list):
        return _reader("[]")(value) or None
    return _schema(value) if isinstance(value, Mapping) else None


def _schema(value: Any) -> Manifest:
    """A schema that is read by itself: its refusals are told in other words."""
    try:
        return converted(value, _SCHEMA)
    except MisfitError:
        return dict(check_object(value, _SCHEMA))


_UNIONS: Final[Mapping[str, Reader]] = {"s": _schema_or_boolean, "a": _schema_or_schemas, "d": _schema_or_texts}
