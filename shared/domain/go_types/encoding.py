"""Writes objects as the JSON that OLM hashes: known fields in Go's order, the others sorted, whatever they hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from shared.domain.go.encode import json_text, ordered
from shared.domain.go_types.engine import Dialect, reader
from shared.domain.go_types.typetables import Struct, read

_TYPES: Final = """
Any
PolicyRule verbs!:* apiGroups:* resources:* resourceNames:* nonResourceURLs:*
StrategyDeploymentPermissions serviceAccountName! rules!:*PolicyRule
Grant name:* namespace:* permission:*StrategyDeploymentPermissions
RoleRef apiGroup! kind! name!
Subject kind! apiGroup:* name! namespace:*
Binding RoleRef:*RoleRef Subjects!:*Subject
DeploymentSpec replicas:* selector!:* template:PodTemplateSpec strategy:Any minReadySeconds:* revisionHistoryLimit:*
  paused:* progressDeadlineSeconds:*
PodTemplateSpec metadata:ObjectMeta spec:PodSpec
ObjectMeta name:* namespace:* labels:* annotations:*
PodSpec volumes:* initContainers:*Container containers!:*Container restartPolicy:* terminationGracePeriodSeconds:*
  dnsPolicy:* nodeSelector:* serviceAccountName:* serviceAccount:* hostNetwork:* securityContext:*
Container name:* image:* command:* args:* workingDir:* ports:* envFrom:* env:* resources:Any volumeMounts:*
  volumeDevices:* livenessProbe:* readinessProbe:* startupProbe:*
"""
"""Fields without a type, or of `Any`, hold any value. A Deployment declares its fields down to containers; deeper
fields, and fields not named here, follow sorted by name. The order is stable, and equal to OLM's for specs without
other fields; any other spec costs one rewrite of the Deployment when this program takes over a cluster from OLM."""


def encode(value: object, name: str = "Any") -> str:
    """The compact JSON text of a struct of that name, or of a list of them, arranged as Go declares it."""
    return json_text(reader(_PRESENT, name)(value), is_sorted=False)


def _present(value: Mapping[str, Any], struct: Struct) -> Iterable[str]:
    """The fields that are not empty; numbers and booleans never are."""
    named = ((name, field) for name, field in struct.fields.items() if name in value)
    return [name for name, field in named if field.is_kept or value[name] or value[name] == 0]


def _each(value: Any, kind: str) -> Any:
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    return [reader(_PRESENT, kind)(one) for one in value] if is_list else value


_PRESENT: Final = Dialect(read(_TYPES), {"": ordered, "Any": ordered}, _each, _present, False, unknown="Any")
