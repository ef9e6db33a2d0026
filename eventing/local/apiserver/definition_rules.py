"""Rules of CustomResourceDefinitions: names, versions, and schemas, which have to be structural."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eventing.local.apiserver import trust
from eventing.local.apiserver.failures import Cause, Shown, bad_value, required, unsupported
from eventing.local.apiserver.resources import Node
from eventing.local.apiserver.validation import validate
from shared.api.manifest import Manifest, ReadOnly, annotations_of, name_of
from shared.domain.syntax import LABEL_1035

TYPES = ("array", "boolean", "integer", "number", "object", "string")
APPROVED = "api-approved.kubernetes.io"


def definition(manifest: Manifest) -> Iterator[Cause]:
    """The defects of a CustomResourceDefinition."""
    spec = manifest.get("spec") or {}
    yield from _names(manifest, spec)
    versions = spec.get("versions") or []
    if sum(bool(version.get("storage")) for version in versions) != 1:
        yield bad_value("spec.versions", Shown("[]"), "must have exactly one version marked as storage version")
    for index, version in enumerate(versions):
        yield from _version(f"spec.versions[{index}]", version, is_only=len(versions) == 1)
    if spec.get("preserveUnknownFields"):
        why = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        yield bad_value("spec.preserveUnknownFields", True, why)
    yield from _conversion(spec.get("conversion") or {})


def _names(manifest: Manifest, spec: Node) -> Iterator[Cause]:
    group, names = str(spec.get("group", "")), spec.get("names") or {}
    if name_of(manifest) != f"{names.get('plural')}.{group}":
        yield bad_value("metadata.name", name_of(manifest), 'must be spec.names.plural+"."+spec.group')
    if group.endswith((".k8s.io", ".kubernetes.io")) and APPROVED not in annotations_of(manifest):
        why = f'protected groups must have approval annotation "{APPROVED}", see '
        link = "https://github.com/kubernetes/enhancements/pull/1111"
        yield required(f"metadata.annotations[{APPROVED}]", why + link)
    if spec.get("scope") not in ("Cluster", "Namespaced"):
        yield unsupported("spec.scope", spec.get("scope", ""), "Cluster", "Namespaced")


def _conversion(conversion: Node) -> Iterator[Cause]:
    strategy = conversion.get("strategy", "None")
    if strategy not in ("None", "Webhook"):
        yield unsupported("spec.conversion.strategy", strategy, "None", "Webhook")
    webhook = conversion.get("webhook") or {}
    if strategy == "Webhook" and not webhook.get("clientConfig"):
        yield required("spec.conversion.webhookClientConfig", "required when strategy is set to Webhook")
    if strategy == "Webhook" and not webhook.get("conversionReviewVersions"):
        yield required("spec.conversion.conversionReviewVersions")


def changed_definition(old: ReadOnly, new: ReadOnly) -> Iterator[Cause]:
    """The CA of a conversion must stay readable, once it is."""
    before, after = (one.get("spec", {}).get("conversion") or {} for one in (old, new))
    if not _unreadable(before) and (why := _unreadable(after)):
        yield bad_value("spec.conversion.webhookClientConfig.caBundle", _authority(after), why)


def _authority(conversion: Node) -> str:
    return str(((conversion.get("webhook") or {}).get("clientConfig") or {}).get("caBundle") or "")


def _unreadable(conversion: Node) -> str:
    try:
        trust.trusting(_authority(conversion))
    except trust.Unreadable as error:
        return str(error)
    return ""


def _version(path: str, version: Node, *, is_only: bool) -> Iterator[Cause]:
    for problem in LABEL_1035.problems(str(version.get("name", ""))):
        yield bad_value(f"{path}.name", version.get("name", ""), problem)
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    if not schema:
        yield required(f"{path}.schema.openAPIV3Schema")
        return
    place = "spec.validation.openAPIV3Schema" if is_only else f"{path}.schema.openAPIV3Schema"
    if not schema.get("type"):
        yield required(f"{place}.type", "must not be empty at the root")
    elif schema["type"] != "object":
        yield bad_value(f"{place}.type", schema["type"], "must be object at the root")
    meta = (schema.get("properties") or {}).get("metadata") or {}
    if set(meta.get("properties") or ()) - {"name", "generateName"}:
        why = "must not specify anything other than name and generateName, but metadata is implicitly specified"
        yield Cause(f"{place}.properties[metadata]", "FieldValueForbidden", f"Forbidden: {why}")
    yield from _structure(place, schema)


def _structure(path: str, node: Node) -> Iterator[Cause]:
    """The defects of a schema whose own type was checked."""
    if "$ref" in node:
        yield Cause(f"{path}.$ref", "FieldValueForbidden", "Forbidden: $ref is not supported")
    if node.get("type") not in (None, "", *TYPES):
        yield unsupported(f"{path}.type", node["type"], *TYPES)
    if node.get("properties") and node.get("additionalProperties"):
        why = "Forbidden: additionalProperties and properties are mutual exclusive"
        yield Cause(f"{path}.additionalProperties", "FieldValueForbidden", why)
    if isinstance(node.get("items"), list):
        why = "items must be a schema object and not an array"
        yield Cause(f"{path}.items", "FieldValueForbidden", f"Forbidden: {why}")
    if node.get("type") == "array" and node.get("items") is None:
        yield required(f"{path}.items", "must be specified")
    if node.get("x-kubernetes-list-type") == "map" and not node.get("x-kubernetes-list-map-keys"):
        yield required(f"{path}.x-kubernetes-list-map-keys", "must not be empty if x-kubernetes-list-type is map")
    if "default" in node:
        yield from (Cause(f"{path}.default", one.reason, one.message) for one in validate(node["default"], node))
    for place, below, what in _below(path, node):
        if not (below.get("type") or below.get("x-kubernetes-int-or-string") or _keeps_unknown(below)):
            yield required(f"{place}.type", f"must not be empty for specified {what}")
        yield from _structure(place, below)


def _keeps_unknown(node: Node) -> bool:
    return bool(node.get("x-kubernetes-preserve-unknown-fields"))


def _below(path: str, node: Node) -> Iterator[tuple[str, Node, str]]:
    """The schemas inside a schema: path, schema, and what they are for."""
    found: Any = node.get("properties") or {}
    for name in sorted(found):
        yield f"{path}.properties[{name}]", found[name], "object fields"
    for name, what in (("items", "array items"), ("additionalProperties", "object fields")):
        if isinstance(below := node.get(name), dict):
            yield f"{path}.{name}", below, what
