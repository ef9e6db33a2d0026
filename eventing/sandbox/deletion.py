"""Deletes objects: preconditions, finalizers, propagation; the collector does the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from eventing.sandbox import verbs
from eventing.sandbox.calls import Call
from eventing.sandbox.failures import bad_option, conflict, unsupported
from eventing.sandbox.resources import Resource
from eventing.sandbox.store import Stored
from eventing.sandbox.verbs import Answer
from eventing.sandbox.world import World, now
from shared.api.manifest import Manifest, metadata, uid_of

FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"
_FINALIZERS = {"Foreground": FOREGROUND, "Orphan": ORPHAN}
CRD_CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
KEEPS_DEPENDENTS = ("Job", "ReplicationController")
"""Kinds whose dependents are orphaned by default."""


def delete(call: Call, world: World, options: Any) -> Answer:
    """Delete one object."""
    options = _options(call, options)
    stored = verbs.find(call, world)
    _check(call, stored, options.get("preconditions") or {})
    gone = stored.manifest if call.is_dry_run else remove(call.resource, stored, world, _policy(call.resource, options))
    if gone is not None:
        return verbs.answer(call, gone)
    resource = call.resource
    details = {"name": call.name, "group": resource.group, "kind": resource.plural, "uid": uid_of(stored.manifest)}
    return Answer(200, orjson.dumps({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
        "details": {key: value for key, value in details.items() if value},
    }))  # fmt: skip


def delete_all(call: Call, world: World, options: Any) -> Answer:
    """Delete the objects that the selectors match; answers with the list of them."""
    options = _options(call, options)
    found = verbs.list_objects(call, world, "application/json")
    is_wanted = verbs.matching(call)
    for stored in world.store.list(call.resource.table, call.namespace):
        if is_wanted(stored.manifest) and not call.is_dry_run:
            remove(call.resource, stored, world, _policy(call.resource, options))
    return found


def _options(call: Call, options: Any) -> Manifest:
    given: Manifest = dict(options) if isinstance(options, dict) else {}
    for name in ("propagationPolicy", "gracePeriodSeconds"):
        if name in call.query:
            given[name] = call.query[name]
    policy = given.get("propagationPolicy", "Background")
    if policy not in ("Background", "Foreground", "Orphan"):
        raise bad_option(
            "Delete", unsupported("propagationPolicy", policy, "Foreground", "Background", "Orphan", "nil")
        )
    return given


def _policy(resource: Resource, options: Mapping[str, Any]) -> str:
    if "propagationPolicy" in options:
        return str(options["propagationPolicy"])
    if options.get("orphanDependents") or (resource.kind in KEEPS_DEPENDENTS and "orphanDependents" not in options):
        return "Orphan"
    return "Background"


def _check(call: Call, stored: Stored, preconditions: Mapping[str, Any]) -> None:
    meta = metadata(stored.manifest)
    for field, word, guess in _PRECONDITIONS:
        wanted = preconditions.get(field)
        if wanted and wanted != meta[field]:
            why = (
                f"the {word} in the precondition ({wanted}) does not match the {word} in record ({meta[field]}). "
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
    meta.setdefault("deletionTimestamp", now())
    if not is_namespace:
        meta.setdefault("deletionGracePeriodSeconds", 0)
        if "generation" in meta:
            meta["generation"] += 1
    if finalizers:
        meta["finalizers"] = finalizers
    if is_namespace:
        marked.setdefault("status", {})["phase"] = "Terminating"
    return dict(world.store.put(stored.key, marked).manifest)
