"""Rules of single kinds that are not in a schema: names, sizes, immutable fields, dependent defaults."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import orjson

from eventing.sandbox.failures import Cause, Shown, bad_value, quoted, required, unsupported
from eventing.sandbox.resources import Resource
from shared.api.manifest import Manifest, ReadOnly, labels_of, metadata, name_of
from shared.domain.syntax import LABEL, LABEL_1035, LABEL_VALUE, QUALIFIED_NAME, SUBDOMAIN, Syntax

Rule: TypeAlias = Callable[[Manifest], Iterator[Cause]]

_KEY_WHY = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or "
    "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)
_RBAC = "rbac.authorization.k8s.io"
MAX_BYTES = 1024 * 1024
MAX_ANNOTATION_BYTES = 256 * 1024


def name_defects(resource: Resource, name: str) -> Iterator[Cause]:
    """The defects of the name of a new object."""
    path = "metadata.name"
    if not name:
        yield required(path, "name or generateName is required")
    elif resource.group == _RBAC:
        if "/" in name or "%" in name or name in (".", ".."):
            yield bad_value(path, name, "may not contain '/' or '%'")
    else:
        yield from _named(path, name, _SYNTAX.get(resource.kind, SUBDOMAIN))


_SYNTAX = {"Namespace": LABEL, "Service": LABEL_1035}


def _named(path: str, name: str, syntax: Syntax) -> Iterator[Cause]:
    has_dots = syntax is LABEL and "." in name
    for problem in syntax.problems(name):
        yield bad_value(path, name, "must not contain dots" if has_dots and problem == syntax.rule else problem)


def metadata_defects(manifest: Manifest) -> Iterator[Cause]:
    """The defects of labels and annotations."""
    meta = metadata(manifest)
    for key, value in (meta.get("labels") or {}).items():
        yield from label_defects("metadata.labels", key, value)
    annotations = meta.get("annotations") or {}
    for key in annotations:
        yield from _qualified("metadata.annotations", key.lower(), key)
    if sum(len(key.encode()) + len(str(value).encode()) for key, value in annotations.items()) > MAX_ANNOTATION_BYTES:
        sentence = f"Too long: may not be more than {MAX_ANNOTATION_BYTES} bytes"
        yield Cause("metadata.annotations", "FieldValueTooLong", sentence)
    for owner in meta.get("ownerReferences") or []:
        for name in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(name):
                yield bad_value(f"metadata.ownerReferences.{name}", owner.get(name) or "", "must not be empty")


def label_defects(path: str, key: str, value: Any) -> Iterator[Cause]:
    """The defects of one label."""
    yield from _qualified(path, key, key)
    if wrong := LABEL_VALUE.problems(str(value)):
        yield bad_value(path, value, wrong[0])


def _qualified(path: str, key: str, shown: str) -> Iterator[Cause]:
    prefix, slash, name = key.rpartition("/")
    if slash and not SUBDOMAIN.fits(prefix):
        yield bad_value(path, shown, f"prefix part {SUBDOMAIN.rule}")
    if wrong := QUALIFIED_NAME.problems(name):
        yield bad_value(path, shown, f"name part {wrong[0]}")


def _config_map(manifest: Manifest) -> Iterator[Cause]:
    sizes = [(key, len(value.encode())) for key, value in (manifest.get("data") or {}).items()]
    sizes += [(key, len(value) * 3 // 4) for key, value in (manifest.get("binaryData") or {}).items()]
    yield from _keyed(manifest, sum(size for _, size in sizes), ("data", "binaryData"))


def _secret(manifest: Manifest) -> Iterator[Cause]:
    yield from _keyed(manifest, sum(len(value) * 3 // 4 for value in (manifest.get("data") or {}).values()), ("data",))


def _keyed(manifest: Manifest, size: int, names: tuple[str, ...]) -> Iterator[Cause]:
    for name in names:
        for key in manifest.get(name) or {}:
            if not re.fullmatch(r"[-._a-zA-Z0-9]+", key):
                yield bad_value(f"{name}[{key}]", key, _KEY_WHY)
    if size > MAX_BYTES:
        path = "data" if manifest["kind"] == "Secret" else ""
        yield Cause(path, "FieldValueTooLong", f"Too long: may not be more than {MAX_BYTES} bytes")


def _workload(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest.get("spec") or {}
    labels = labels_of(spec.get("template") or {})
    selector = spec.get("selector") or {}
    if "selector" in spec and not selector:
        yield bad_value("spec.selector", "{}", "empty selector is invalid for deployment")
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        shown = _go_map(labels)
        yield bad_value("spec.template.metadata.labels", Shown(shown), "`selector` does not match template `labels`")
    yield from _pod("spec.template.spec", (spec.get("template") or {}).get("spec") or {}, ("Always",))


def _job(manifest: Manifest) -> Iterator[Cause]:
    spec = (manifest.get("spec") or {}).get("template", {}).get("spec") or {}
    yield from _pod("spec.template.spec", spec, ("OnFailure", "Never"))


def _pod(path: str, spec: ReadOnly, policies: tuple[str, ...]) -> Iterator[Cause]:
    policy = spec.get("restartPolicy")
    if policy not in policies and "containers" in spec:
        if policies == ("OnFailure", "Never"):
            yield required(f"{path}.restartPolicy", "valid values: " + ", ".join(map(quoted, policies)))
        else:
            yield unsupported(f"{path}.restartPolicy", policy, *policies)
    volumes = {volume.get("name") for volume in spec.get("volumes") or []}
    for group in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(group) or []):
            at = f"{path}.{group}[{index}]"
            if not container.get("image"):
                yield required(f"{at}.image")
            yield from _named(f"{at}.name", container.get("name") or "x", LABEL)
            for mount_index, mount in enumerate(container.get("volumeMounts") or []):
                if mount.get("name") not in volumes:
                    path_of_name = f"{at}.volumeMounts[{mount_index}].name"
                    yield Cause(path_of_name, "FieldValueNotFound", f'Not found: "{mount.get("name")}"')


def _roles(manifest: Manifest) -> Iterator[Cause]:
    for index, rule in enumerate(manifest.get("rules") or []):
        path = f"rules[{index}]"
        if rule.get("nonResourceURLs"):
            continue
        if not rule.get("apiGroups"):
            yield required(f"{path}.apiGroups", "resource rules must supply at least one api group")
        if not rule.get("resources"):
            yield required(f"{path}.resources", "resource rules must supply at least one resource")


def _service(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest.get("spec") or {}
    if not spec.get("ports") and spec.get("type") != "ExternalName" and spec.get("clusterIP") != "None":
        yield required("spec.ports")


def _definition(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest.get("spec") or {}
    names = spec.get("names") or {}
    wanted = f"{names.get('plural')}.{spec.get('group')}"
    if name_of(manifest) != wanted:
        yield bad_value("metadata.name", name_of(manifest), 'must be spec.names.plural+"."+spec.group')
    versions = spec.get("versions") or []
    if sum(bool(version.get("storage")) for version in versions) != 1:
        yield bad_value("spec.versions", Shown("[]"), "must have exactly one version marked as storage version")
    for index, version in enumerate(versions):
        if not (version.get("schema") or {}).get("openAPIV3Schema"):
            yield required(f"spec.versions[{index}].schema.openAPIV3Schema")
    if (spec.get("conversion") or {}).get("strategy", "None") not in ("None", "Webhook"):
        yield unsupported("spec.conversion.strategy", spec["conversion"]["strategy"], "None", "Webhook")


RULES: dict[tuple[str, str], Rule] = {
    ("", "ConfigMap"): _config_map, ("", "Secret"): _secret, ("", "Service"): _service,
    ("apps", "Deployment"): _workload, ("apps", "StatefulSet"): _workload, ("apps", "DaemonSet"): _workload,
    ("apps", "ReplicaSet"): _workload, ("batch", "Job"): _job,
    (_RBAC, "Role"): _roles, (_RBAC, "ClusterRole"): _roles,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _definition,
}  # fmt: skip

IMMUTABLE: dict[tuple[str, str], tuple[str, ...]] = {
    ("apps", "Deployment"): ("spec.selector",), ("apps", "DaemonSet"): ("spec.selector",),
    ("apps", "ReplicaSet"): ("spec.selector",), ("apps", "StatefulSet"): ("spec.selector", "spec.serviceName"),
    ("batch", "Job"): ("spec.selector", "spec.template", "spec.completionMode"),
    (_RBAC, "RoleBinding"): ("roleRef",), (_RBAC, "ClusterRoleBinding"): ("roleRef",), ("", "Secret"): ("type",),
    ("scheduling.k8s.io", "PriorityClass"): ("value",), ("storage.k8s.io", "StorageClass"): ("provisioner",),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): ("spec.scope", "spec.names.kind", "spec.group"),
}  # fmt: skip


def changed_immutables(resource: Resource, old: ReadOnly, new: ReadOnly) -> Iterator[Cause]:
    """The immutable fields that changed."""
    for path in IMMUTABLE.get((resource.group, resource.kind), ()):
        before, after = _at(old, path), _at(new, path)
        if before != after:
            why = "cannot change roleRef" if path == "roleRef" else "field is immutable"
            yield bad_value(path, after if isinstance(after, str) else Shown(_go_map(after)), why)
    if resource.kind in ("ConfigMap", "Secret") and old.get("immutable"):
        for name in ("data", "binaryData"):
            if old.get(name) != new.get(name):
                yield Cause(name, "FieldValueForbidden", "Forbidden: field is immutable when `immutable` is set")


def _at(manifest: ReadOnly, path: str) -> Any:
    value: Any = manifest
    for name in path.split("."):
        value = (value or {}).get(name)
    return value


def _go_map(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
