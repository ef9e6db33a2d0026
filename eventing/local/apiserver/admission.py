"""Prepares an object for the store: sets defaults, asks webhooks, validates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as with_changes
from typing import TypeAlias

from eventing.local.apiserver import metadata_rules, pod_security, rules, webhooks
from eventing.local.apiserver.calls import Call
from eventing.local.apiserver.decoding import decode
from eventing.local.apiserver.defaults import fill_builtin
from eventing.local.apiserver.expression_rules import broken
from eventing.local.apiserver.failures import (
    Cause,
    bad_request,
    conflict,
    forbidden,
    invalid,
    not_found,
    unexplained,
)
from eventing.local.apiserver.numbers import not_unsigned
from eventing.local.apiserver.resources import resolve
from eventing.local.apiserver.store import Stored
from eventing.local.apiserver.validation import missing, repeated, validate
from eventing.local.apiserver.webhook_matching import Write
from eventing.local.apiserver.world import World
from shared.api.manifest import Manifest, ReadOnly, metadata, name_of

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_OURS = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "selfLink")
"""Metadata fields that only the server sets."""


Record: TypeAlias = Callable[[Manifest], None]
"""Writes the field managers into an object, as its sender made it."""


def prepare_create(call: Call, manifest: Manifest, world: World, *, record: Record) -> Manifest:
    """A new object, with defaults, after the mutating webhooks, validated, and allowed by the others."""
    meta = manifest["metadata"]
    place(call, meta)
    if meta.get("resourceVersion") not in (None, "", "0"):
        raise unexplained("resourceVersion should not be set on objects to be created")
    meta.pop("resourceVersion", None)
    for name in (*_OURS, "managedFields"):
        meta.pop(name, None)
    named = str(meta.get("name") or "")
    if not named and meta.get("generateName"):
        meta["name"] = meta["generateName"][:58] + _suffix(call)
    _require_namespace(call, meta, world)
    meta |= {"uid": str(call.identity), "creationTimestamp": call.time, "generation": 1}
    if call.resource.kind in _UNGENERATED:
        del meta["generation"]
    if "status" in call.resource.subresources:
        manifest.pop("status", None)
    is_pod = call.resource.table == PODS
    if is_pod:
        _give_account(call, manifest, world)
    fill_builtin(call.resource, manifest, world)
    record(manifest)
    manifest = _mutated(Write(call, "CREATE", manifest, None, named, is_dry_run=call.is_dry_run), world)
    check(call, manifest, [*metadata_rules.name_defects(call.resource, manifest["metadata"].get("name", ""))])
    if is_pod:
        _secure(call, manifest, world)
    name = str(manifest["metadata"]["name"])
    webhooks.validate(Write(call, "CREATE", manifest, None, name, is_dry_run=call.is_dry_run), world)
    return manifest


def _suffix(call: Call) -> str:
    """What is added to `generateName`."""
    number, base = call.identity.int, len(_ALPHABET)
    return "".join(_ALPHABET[number // base**place % base] for place in range(5))


_SET_LATER = ("uid", "creationTimestamp", "generation")
"""Metadata of a new object that mutating webhooks do not see."""


def _mutated(write: Write, world: World) -> Manifest:
    """The object that the mutating webhooks leave, with the metadata of the server."""
    manifest = dict(write.object or {})
    if not webhooks.configured("Mutating", world):
        return manifest
    call, own = write.call, _OURS if write.old else (*_SET_LATER, *(() if write.name else ("name",)))
    kept = {name: manifest["metadata"][name] for name in own if name in manifest["metadata"]}
    if write.old is None:
        meta = {name: value for name, value in manifest["metadata"].items() if name not in kept}
        write = with_changes(write, object={**manifest, "metadata": meta})
    quiet = with_changes(call, query={**call.query, "fieldValidation": "Ignore"}, warnings=[])
    mutated = dict(webhooks.mutate(write, world, lambda patched: decode(quiet, patched)).object or {})
    meta = {name: value for name, value in mutated["metadata"].items() if name not in own}
    mutated["metadata"] = {**meta, **kept}
    place(call, mutated["metadata"])
    fill_builtin(call.resource, mutated, world, write.old)
    return mutated


PODS, ACCOUNTS, NAMESPACES = "/pods", "/serviceaccounts", "/namespaces"


def _secure(call: Call, pod: ReadOnly, world: World) -> None:
    """Failure when the namespace does not allow what the Pod has."""
    namespace = world.store.get((NAMESPACES, "", call.namespace))
    if namespace is not None and (why := pod_security.refusal(namespace.manifest, pod)):
        raise forbidden(call.resource.plural, "", name_of(pod), why)


def _give_account(call: Call, manifest: Manifest, world: World) -> None:
    """Set the ServiceAccount of a Pod; Failure when it does not exist."""
    spec = manifest.get("spec")
    if not isinstance(spec, dict):
        return
    name = spec.setdefault("serviceAccountName", "default") or "default"
    spec |= {"serviceAccountName": name, "serviceAccount": name}
    if world.store.get((ACCOUNTS, call.namespace, name)) is None:
        why = f'error looking up service account {call.namespace}/{name}: serviceaccount "{name}" not found'
        raise forbidden(call.resource.plural, "", manifest["metadata"].get("name", ""), why)


_UNGENERATED = frozenset({
    "Namespace", "ConfigMap", "Secret", "Service", "ServiceAccount", "Event", "Endpoints", "Role", "RoleBinding",
    "ClusterRole", "ClusterRoleBinding", "Lease", "APIService", "PersistentVolumeClaim", "PersistentVolume", "Node",
    "ResourceQuota", "LimitRange", "StorageClass", "ControllerRevision", "HorizontalPodAutoscaler",
})  # fmt: skip
"""Kinds without `metadata.generation`."""


def require_name(call: Call, meta: ReadOnly) -> None:
    """Raise Failure when an object to be written at a name does not say its own."""
    if not meta.get("name"):
        raise bad_request(
            f"the name of the object ({call.name} based on URL) was undeterminable: name must be provided"
        )


def place(call: Call, meta: Manifest) -> None:
    """Set name and namespace of an object to those of the call; Failure when it says others."""
    if not call.resource.is_namespaced:
        meta.pop("namespace", None)
    elif meta.setdefault("namespace", call.namespace) != call.namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    if call.name and meta.setdefault("name", call.name) != call.name:
        raise bad_request(f"the name of the object ({meta['name']}) does not match the name on the URL ({call.name})")


def _require_namespace(call: Call, meta: Manifest, world: World) -> None:
    if not call.resource.is_namespaced:
        return
    found = world.store.get(("/namespaces", "", call.namespace))
    if found is None:
        raise not_found("namespaces", "", call.namespace)
    if metadata(found.manifest).get("deletionTimestamp"):
        why = f"unable to create new content in namespace {call.namespace} because it is being terminated"
        cause = {
            "reason": "NamespaceTerminating", "message": f"namespace {call.namespace} is being terminated",
            "field": "metadata.namespace",
        }  # fmt: skip
        raise forbidden(call.resource.plural, call.resource.group, meta.get("name", ""), why, causes=[cause])


def prepare_update(call: Call, old: Stored, manifest: Manifest, world: World, *, record: Record) -> Manifest:
    """The next state of an object: the server's fields are kept, the others are validated; after all webhooks."""
    meta, before = manifest["metadata"], old.manifest["metadata"]
    place(call, meta)
    desired = meta.get("resourceVersion")
    if desired and (why := not_unsigned(desired)):
        raise unexplained(why)
    if desired not in (None, "", "0") and desired != before["resourceVersion"]:
        raise conflict(call.resource.plural, call.resource.group, call.name)
    if meta.get("uid") and meta["uid"] != before["uid"]:
        why = f"Precondition failed: UID in precondition: {meta['uid']}, UID in object meta: {before['uid']}"
        raise conflict(call.resource.plural, call.resource.group, call.name, why)
    for name in _OURS:
        meta.pop(name, None)
    meta |= {name: before[name] for name in _OURS if name in before}
    meta["resourceVersion"] = before["resourceVersion"]
    manifest = _merge_subresource(call, old.manifest, manifest)
    if not call.subresource:
        fill_builtin(call.resource, manifest, world, old.manifest)
    record(manifest)
    name = call.name
    manifest = _mutated(Write(call, "UPDATE", manifest, old.manifest, name, is_dry_run=call.is_dry_run), world)
    manifest = _merge_subresource(call, old.manifest, manifest)
    if "generation" in before and not call.subresource and _spec_changed(call, old.manifest, manifest):
        manifest["metadata"]["generation"] = before["generation"] + 1
    if before.get("deletionTimestamp"):
        _no_new_finalizers(call, before, manifest["metadata"])
    causes = [*rules.changed_immutables(call.resource, old.manifest, manifest)] if not call.subresource else []
    check(call, manifest, causes, old.manifest)
    webhooks.validate(Write(call, "UPDATE", manifest, old.manifest, name, is_dry_run=call.is_dry_run), world)
    return manifest


def _merge_subresource(call: Call, old: ReadOnly, new: Manifest) -> Manifest:
    """The object after a write: a write to `status` changes only the status, any other all but the status."""
    if call.subresource == "status":
        kept = {**old, "apiVersion": new["apiVersion"], "metadata": {**old["metadata"]}}
        kept["metadata"]["managedFields"] = new["metadata"].get("managedFields", [])
        kept.pop("status", None)
        return {**kept, "status": new["status"]} if "status" in new else kept
    if "status" in call.resource.subresources:
        new.pop("status", None)
        return {**new, "status": old["status"]} if "status" in old else new
    return new


def _spec_changed(call: Call, old: ReadOnly, new: ReadOnly) -> bool:
    """Whether anything but the metadata changed; a custom kind without status subresource counts its status, too."""
    ignored: Manifest = {"metadata": None, "apiVersion": None}
    if not call.resource.is_custom or "status" in call.resource.subresources:
        ignored["status"] = None
    return {**old, **ignored} != {**new, **ignored}


def _no_new_finalizers(call: Call, before: ReadOnly, meta: ReadOnly) -> None:
    fresh = sorted(set(meta.get("finalizers") or ()) - set(before.get("finalizers") or ()))
    if fresh:
        why = (
            f"Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers {fresh!r}"
        )
        cause = Cause("metadata.finalizers", "FieldValueForbidden", why)
        raise invalid(call.resource.kind, call.resource.group, call.name, [cause])


def check(call: Call, manifest: Manifest, causes: list[Cause], old: ReadOnly | None = None) -> None:
    """Raise Failure with all defects; `old` is the object before an update."""
    resource, schema = call.resource, resolve(call.resource.schema)
    unchecked = "metadata" if resource.is_custom else "status"
    body = {name: value for name, value in manifest.items() if name != unchecked}
    causes += metadata_rules.metadata_defects(manifest)
    if resource.is_custom:
        causes += repeated(body, schema)
        causes += validate(body, {**schema, "required": [n for n in schema.get("required", ()) if n != "metadata"]})
        causes += broken(manifest, old, resource.rules, tuple(causes))
    else:
        rule = rules.RULES.get((resource.group, resource.kind))
        found = [*rule(manifest)] if rule else []
        reported = {cause.path for cause in found}
        causes += [cause for cause in missing(body, schema) if cause.path not in reported] + found
    if causes:
        raise invalid(resource.kind, resource.group, manifest["metadata"].get("name", ""), causes)
