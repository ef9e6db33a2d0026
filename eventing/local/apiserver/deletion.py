"""Deletes objects: preconditions, finalizers, propagation; the collector does the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from eventing.local.apiserver import conversion, verbs, webhooks
from eventing.local.apiserver.calls import Call
from eventing.local.apiserver.failures import Shown, as_json, bad_option, bad_value, conflict, unsupported
from eventing.local.apiserver.resources import Resource
from eventing.local.apiserver.store import Stored
from eventing.local.apiserver.verbs import Answer
from eventing.local.apiserver.webhook_matching import Write
from eventing.local.apiserver.world import World
from shared.api.manifest import Manifest, metadata, uid_of

ALL = "All"
FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"
_FINALIZERS = {"Foreground": FOREGROUND, "Orphan": ORPHAN}
CRD_CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
KEEPS_DEPENDENTS = ("Job", "ReplicationController")
"""Kinds whose dependents are orphaned by default."""
ANSWERED_WITH = frozenset(
    {"Pod", "Service", "ServiceAccount", "PersistentVolume", "PersistentVolumeClaim", "ResourceQuota"}
)
"""Kinds whose deletion is answered with the deleted object."""


def delete(call: Call, world: World, body: Manifest) -> Answer:
    """Delete one object, with DeleteOptions."""
    options = _options(call, body)
    shown = verbs.find(call, world)
    _check(call, shown, options.get("preconditions") or {})
    _admit(call, shown, options, world)
    resource, stored = call.resource, world.store.get(shown.key) or shown
    left = None if _is_dry_run(call, options) else remove(resource, stored, world, _policy(resource, options))
    if left is not None or resource.kind in ANSWERED_WITH:
        return verbs.answer(call, {**shown.manifest, **_progress_of(left)} if left else shown.manifest)
    details = {"name": call.name, "group": resource.group, "kind": resource.plural, "uid": uid_of(stored.manifest)}
    return Answer(200, orjson.dumps({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
        "details": {key: value for key, value in details.items() if value},
    }))  # fmt: skip


def delete_all(call: Call, world: World, body: Manifest) -> Answer:
    """Delete the objects that the selectors match; answers with the list of them."""
    options = _options(call, body)
    found = verbs.list_objects(call, world, "application/json")
    is_match = verbs.matching(call)
    desired = [one for one in world.store.list(call.resource.table, call.namespace) if is_match(one.manifest)]
    for shown in conversion.shown(call, desired):
        _admit(call, shown, options, world)
    for stored in desired:
        if not _is_dry_run(call, options):
            remove(call.resource, stored, world, _policy(call.resource, options))
    return found


def _progress_of(left: Manifest) -> Manifest:
    """What a deletion changes in an object that stays for now."""
    return {name: left[name] for name in ("metadata", "status") if name in left}


def _admit(call: Call, stored: Stored, options: Manifest, world: World) -> None:
    """Ask all webhooks about a deletion, before anything is deleted."""
    asked = {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1", **options}
    is_dry_run = _is_dry_run(call, options)
    write = Write(call, "DELETE", None, stored.manifest, call.name, options=asked, is_dry_run=is_dry_run)
    webhooks.mutate(write, world, dict)
    webhooks.validate(write, world)


def _options(call: Call, body: Manifest) -> Manifest:
    if not body and "propagationPolicy" in call.query:
        body = {"propagationPolicy": call.query["propagationPolicy"]}  # the body wins
    if body.get("dryRun", [ALL]) != [ALL]:
        raise bad_option("Delete", unsupported("dryRun", Shown(as_json(body["dryRun"])), ALL))
    policy = body.get("propagationPolicy", "Background")
    if policy not in ("Background", "Foreground", "Orphan"):
        raise bad_option(
            "Delete", unsupported("propagationPolicy", policy, "Foreground", "Background", "Orphan", "nil")
        )
    if "propagationPolicy" in body and body.get("orphanDependents") is not None:
        why = "orphanDependents and deletionPropagation cannot be both set"
        raise bad_option("Delete", bad_value("propagationPolicy", policy, why))
    return body


def _is_dry_run(call: Call, options: Mapping[str, Any]) -> bool:
    """Whether the query or the body asks for a dry run; kubectl says it in the body."""
    return call.is_dry_run or "dryRun" in options


def _policy(resource: Resource, options: Mapping[str, Any]) -> str:
    if "propagationPolicy" in options:
        return str(options["propagationPolicy"])
    if options.get("orphanDependents") or (resource.kind in KEEPS_DEPENDENTS and "orphanDependents" not in options):
        return "Orphan"
    return "Background"


def _check(call: Call, stored: Stored, preconditions: Mapping[str, Any]) -> None:
    meta = metadata(stored.manifest)
    for field, word, guess in _PRECONDITIONS:
        desired = preconditions.get(field)
        if desired is not None and desired != meta[field]:
            why = (
                f"the {word} in the precondition ({desired}) does not match the {word} in record ({meta[field]}). "
                f"The object might have been {guess}"
            )
            raise conflict(call.resource.kind, call.resource.group, call.name, why)


_PRECONDITIONS = (
    ("uid", "UID", "deleted and then recreated"),
    ("resourceVersion", "ResourceVersion", "modified"),
)


def remove(resource: Resource, stored: Stored, world: World, policy: str = "Background") -> Manifest | None:
    """Delete an object, or mark it for deletion and return its state when finalizers or dependents must go first."""
    marked = stored.copy()
    meta = marked["metadata"]
    finalizers = [name for name in meta.get("finalizers", []) if name not in _FINALIZERS.values()]
    if policy in _FINALIZERS:
        finalizers.append(_FINALIZERS[policy])
    if resource.kind == "CustomResourceDefinition" and CRD_CLEANUP not in finalizers:
        finalizers.append(CRD_CLEANUP)
    is_namespace = resource.table == "/namespaces"
    if not finalizers and not (is_namespace and (marked.get("spec") or {}).get("finalizers")):
        world.store.remove(stored.key)
        return None
    if meta.get("deletionTimestamp") and finalizers == meta.get("finalizers", []):
        return marked
    meta.setdefault("deletionTimestamp", world.now())
    if not is_namespace:
        meta.setdefault("deletionGracePeriodSeconds", 0)
        if "generation" in meta:
            meta["generation"] += 1
    if finalizers:
        meta["finalizers"] = finalizers
    if is_namespace:
        marked.setdefault("status", {})["phase"] = "Terminating"
    return dict(world.store.put(stored.key, marked).manifest)
