"""Rules of single kinds that are not in a schema: sizes, dependent fields, immutable fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from eventing.local.apiserver.definition_rules import changed_definition, definition
from eventing.local.apiserver.failures import Cause, Shown, as_json, bad_value, required, unsupported
from eventing.local.apiserver.resources import RBAC, Resource
from eventing.local.apiserver.webhook_rules import configuration
from eventing.local.apiserver.workload_rules import MAX_PORT, job, workload
from shared.api.manifest import Manifest, ReadOnly

Rule: TypeAlias = Callable[[Manifest], Iterator[Cause]]

_KEY_WHY = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or "
    "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)
MAX_BYTES = 1024 * 1024
_PORT_NAME = 15
SUBJECTS = ("ServiceAccount", "User", "Group")


def role(manifest: Manifest) -> Iterator[Cause]:
    """The defects of a Role or ClusterRole."""
    for index, rule in enumerate(manifest.get("rules") or []):
        yield from _rule(f"rules[{index}]", rule, is_namespaced=manifest["kind"] == "Role")


def _rule(path: str, rule: ReadOnly, *, is_namespaced: bool) -> Iterator[Cause]:
    if not rule.get("verbs"):
        yield required(f"{path}.verbs", "verbs must contain at least one value")
    if urls := rule.get("nonResourceURLs"):
        if is_namespaced:
            why = "namespaced rules cannot apply to non-resource URLs"
            yield bad_value(f"{path}.nonResourceURLs", Shown(as_json(urls)), why)
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            why = "rules cannot apply to both regular resources and non-resource URLs"
            yield bad_value(f"{path}.nonResourceURLs", Shown(as_json(urls)), why)
        return
    if not rule.get("apiGroups"):
        yield required(f"{path}.apiGroups", "resource rules must supply at least one api group")
    if not rule.get("resources"):
        yield required(f"{path}.resources", "resource rules must supply at least one resource")


def binding(manifest: Manifest) -> Iterator[Cause]:
    """The defects of a RoleBinding or ClusterRoleBinding."""
    is_namespaced, ref = manifest["kind"] == "RoleBinding", manifest.get("roleRef") or {}
    kinds = ("Role", "ClusterRole") if is_namespaced else ("ClusterRole",)
    if ref.get("kind") not in kinds:
        yield unsupported("roleRef.kind", ref.get("kind", ""), *kinds)
    for index, subject in enumerate(manifest.get("subjects") or []):
        path = f"subjects[{index}]"
        if not subject.get("name"):
            yield required(f"{path}.name")
        if subject.get("kind") not in SUBJECTS:
            yield unsupported(f"{path}.kind", subject.get("kind", ""), *SUBJECTS)
        if subject.get("kind") == "ServiceAccount" and not is_namespaced and not subject.get("namespace"):
            yield required(f"{path}.namespace")


def _config_map(manifest: Manifest) -> Iterator[Cause]:
    sizes = [(key, len(value.encode())) for key, value in (manifest.get("data") or {}).items()]
    sizes += [(key, len(value) * 3 // 4) for key, value in (manifest.get("binaryData") or {}).items()]
    yield from _keyed(manifest, sum(size for _, size in sizes), ("data", "binaryData"))


def _secret(manifest: Manifest) -> Iterator[Cause]:
    data = manifest.get("data") or {}
    yield from _keyed(manifest, sum(len(value) * 3 // 4 for value in data.values()), ("data",))
    yield from (required(f"data[{key}]") for key in _SECRETS.get(manifest.get("type", ""), ()) if key not in data)


_SECRETS = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"), "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",), "kubernetes.io/ssh-auth": ("ssh-privatekey",),
}  # fmt: skip
"""The keys that a type of Secret needs."""


def _keyed(manifest: Manifest, size: int, names: tuple[str, ...]) -> Iterator[Cause]:
    for name in names:
        for key in manifest.get(name) or {}:
            if not re.fullmatch(r"[-._a-zA-Z0-9]+", key):
                yield bad_value(f"{name}[{key}]", key, _KEY_WHY)
    if size > MAX_BYTES:
        path = "data" if manifest["kind"] == "Secret" else ""
        yield Cause(path, "FieldValueTooLong", f"Too long: may not be more than {MAX_BYTES} bytes")


def _service(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest.get("spec") or {}
    kind, ports = spec.get("type"), spec.get("ports") or []
    if not ports and kind != "ExternalName" and spec.get("clusterIP") != "None":
        yield required("spec.ports")
    if kind not in _SERVICES:
        yield unsupported("spec.type", kind, *_SERVICES)
    for index, port in enumerate(ports):
        if len(ports) > 1 and not port.get("name"):
            yield required(f"spec.ports[{index}].name")
        for name in ("port", "targetPort"):
            if isinstance(found := port.get(name), int) and not 1 <= found <= MAX_PORT:
                yield bad_value(f"spec.ports[{index}].{name}", found, f"must be between 1 and {MAX_PORT}, inclusive")
        if isinstance(target := port.get("targetPort"), str):
            yield from (bad_value(f"spec.ports[{index}].targetPort", target, why) for why in _misnamed_port(target))


def _misnamed_port(name: str) -> Iterator[str]:
    """Why no port of a container can have the name."""
    rules = (
        (len(name) <= _PORT_NAME, f"must be no more than {_PORT_NAME} characters"),
        (re.fullmatch(r"[-a-z0-9]+", name), "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"),
        (re.search(r"[a-z]", name), "must contain at least one letter (a-z)"),
        ("--" not in name, "must not contain consecutive hyphens"),
        (name.strip("-") == name, "must not begin or end with a hyphen"),
    )
    return (why for fits, why in rules if not fits)


_SERVICES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")


def _lease(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest.get("spec") or {}
    if spec.get("leaseDurationSeconds", 1) <= 0:
        yield bad_value("spec.leaseDurationSeconds", spec["leaseDurationSeconds"], "must be greater than 0")
    if spec.get("leaseTransitions", 0) < 0:
        yield bad_value("spec.leaseTransitions", spec["leaseTransitions"], "must be greater than or equal to 0")


def _event(manifest: Manifest) -> Iterator[Cause]:
    about = (manifest.get("involvedObject") or {}).get("namespace", "")
    if about != manifest["metadata"]["namespace"] and (about or manifest["metadata"]["namespace"] != "default"):
        yield bad_value("involvedObject.namespace", about, "does not match event.namespace")


RULES: dict[tuple[str, str], Rule] = {
    ("", "ConfigMap"): _config_map, ("", "Secret"): _secret, ("", "Service"): _service,
    ("", "Event"): _event, ("coordination.k8s.io", "Lease"): _lease,
    ("apps", "Deployment"): workload, ("apps", "StatefulSet"): workload, ("apps", "DaemonSet"): workload,
    ("apps", "ReplicaSet"): workload, ("batch", "Job"): job,
    (RBAC, "Role"): role, (RBAC, "ClusterRole"): role, (RBAC, "RoleBinding"): binding,
    (RBAC, "ClusterRoleBinding"): binding,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): definition,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): configuration,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): configuration,
}  # fmt: skip


IMMUTABLE: dict[tuple[str, str], tuple[str, ...]] = {
    ("apps", "Deployment"): ("spec.selector",), ("apps", "DaemonSet"): ("spec.selector",),
    ("apps", "ReplicaSet"): ("spec.selector",), ("apps", "StatefulSet"): ("spec.selector", "spec.serviceName"),
    ("batch", "Job"): ("spec.selector", "spec.template", "spec.completionMode"),
    (RBAC, "RoleBinding"): ("roleRef",), (RBAC, "ClusterRoleBinding"): ("roleRef",), ("", "Secret"): ("type",),
    ("scheduling.k8s.io", "PriorityClass"): ("value",), ("storage.k8s.io", "StorageClass"): ("provisioner",),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): ("spec.scope", "spec.names.kind", "spec.group"),
}  # fmt: skip


def changed_immutables(resource: Resource, old: ReadOnly, new: ReadOnly) -> Iterator[Cause]:
    """What may not change, and did."""
    for path in IMMUTABLE.get((resource.group, resource.kind), ()):
        before, after = _at(old, path), _at(new, path)
        if before != after:
            why = "cannot change roleRef" if path == "roleRef" else "field is immutable"
            yield bad_value(path, after if isinstance(after, str) else Shown(as_json(after)), why)
    if resource.kind == "CustomResourceDefinition":
        yield from changed_definition(old, new)
    if resource.kind in ("ConfigMap", "Secret") and old.get("immutable"):
        for name in ("data", "binaryData"):
            if old.get(name) != new.get(name):
                yield Cause(name, "FieldValueForbidden", "Forbidden: field is immutable when `immutable` is set")


def _at(manifest: ReadOnly, path: str) -> Any:
    value: Any = manifest
    for name in path.split("."):
        value = (value or {}).get(name)
    return value
