"""Writes JSON as Go does: struct fields in the order of declaration, map keys sorted, HTML characters escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from shared.domain.go.encode import json_text

OMIT: Final = object()
"""Marks a field that is left out when it is empty (`omitempty`)."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a Go struct."""

    name: str
    struct: Struct = ()
    """The struct type of the value (or of each element of the list); empty: any JSON value, maps sorted."""
    zero: Any = OMIT  # why: any JSON value
    """The value that is written for an absent one."""


Struct: TypeAlias = tuple[Field, ...]

RULE: Final[Struct] = (
    Field("verbs", zero=None),
    Field("apiGroups"),
    Field("resources"),
    Field("resourceNames"),
    Field("nonResourceURLs"),
)
PERMISSION: Final[Struct] = (Field("serviceAccountName", zero=""), Field("rules", RULE, None))
ROLE_REF: Final[Struct] = (Field("apiGroup", zero=""), Field("kind", zero=""), Field("name", zero=""))
SUBJECT: Final[Struct] = (Field("kind", zero=""), Field("apiGroup"), Field("name", zero=""), Field("namespace"))
BINDING: Final[Struct] = (Field("RoleRef", ROLE_REF), Field("Subjects", SUBJECT, None))

_METADATA: Final[Struct] = tuple(Field(name) for name in ("name", "namespace", "labels", "annotations"))
_CONTAINER: Final[Struct] = (
    *(Field(name) for name in ("name", "image", "command", "args", "workingDir", "ports", "envFrom", "env")),
    Field("resources", zero={}),
    *(Field(name) for name in ("volumeMounts", "volumeDevices", "livenessProbe", "readinessProbe", "startupProbe")),
)
_POD: Final[Struct] = (
    Field("volumes"),
    Field("initContainers", _CONTAINER),
    Field("containers", _CONTAINER, None),
    *(Field(name) for name in ("restartPolicy", "terminationGracePeriodSeconds", "dnsPolicy", "nodeSelector")),
    *(Field(name) for name in ("serviceAccountName", "serviceAccount", "hostNetwork", "securityContext")),
)
_TEMPLATE: Final[Struct] = (Field("metadata", _METADATA, {}), Field("spec", _POD, {}))
DEPLOYMENT_SPEC: Final[Struct] = (
    Field("replicas"),
    Field("selector", zero=None),
    Field("template", _TEMPLATE, {}),
    Field("strategy", zero={}),
    *(Field(name) for name in ("minReadySeconds", "revisionHistoryLimit", "paused", "progressDeadlineSeconds")),
)
"""Declares the fields down to containers; deeper fields, and fields not named here, follow sorted by name. The order is
stable, and equal to OLM's for specs without other fields; any other spec costs one rewrite of the Deployment when this
program takes over a cluster from OLM."""


def encode(value: object, struct: Struct = ()) -> str:
    """The compact JSON text of a value, its structs arranged as Go declares them."""
    return json_text(_arranged(value, struct), is_sorted=False)


def _arranged(value: object, struct: Struct) -> object:
    if isinstance(value, Mapping):
        return _fields(value, struct) if struct else {key: _arranged(value[key], ()) for key in sorted(value)}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_arranged(item, struct) for item in value]
    return value


def _fields(value: Mapping[str, object], struct: Struct) -> dict[str, object]:
    arranged = {}
    for field in struct:
        found = value.get(field.name)
        if found or (found in (0, False) and found is not None):
            arranged[field.name] = _arranged(found, field.struct)
        elif field.zero is not OMIT:
            arranged[field.name] = _arranged(field.zero if found is None else found, field.struct)
    rest = value.keys() - {field.name for field in struct}
    return arranged | {key: _arranged(value[key], ()) for key in sorted(rest) if value[key] is not None}
