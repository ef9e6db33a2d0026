"""Server-side apply: fields the manager no longer applies are removed, fields of other managers are conflicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from eventing.sandbox import fieldsets, ownership, verbs
from eventing.sandbox.admission import decode, prepare_create
from eventing.sandbox.calls import Call
from eventing.sandbox.failures import Cause, Failure, bad_option, bad_request, conflict
from eventing.sandbox.fieldsets import Fields
from eventing.sandbox.ownership import Manager, Owned, Owners
from eventing.sandbox.resources import resolve
from eventing.sandbox.store import Stored
from eventing.sandbox.verbs import Answer
from eventing.sandbox.world import World, now
from shared.api.manifest import Manifest, metadata

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def apply(call: Call, world: World, body: Any) -> Answer:
    """Set the fields of the body, and make the manager their owner."""
    wanted = _wanted(call, body)
    manager = Manager(call.query["fieldManager"], "Apply", call.resource.api_version, call.subresource)
    schema = resolve(call.resource.schema)
    fields = {path for path in fieldsets.said(wanted, schema) if ownership.is_counted(path, call)}
    old = world.store.get((call.resource.table, call.namespace, call.name))
    if old is None:
        return _create(call, world, wanted, {manager: Owned(fields, now())})
    live: Manifest = orjson.loads(old.at(call.resource.api_version))
    owners = ownership.read(live)
    merged = fieldsets.merge(live, wanted, schema)
    last = next((owned.fields for one, owned in owners.items() if _is_same(one, manager)), set())
    others = {one: owned for one, owned in owners.items() if not _is_same(one, manager)}
    merged = fieldsets.remove(merged, _abandoned(last, fields, others), schema)
    request = _Request(call, world, manager, fields)
    return _store(request, old, (live, merged), others)


@dataclass(frozen=True, slots=True)
class _Request:
    """The manager and the fields of an apply."""

    call: Call
    world: World
    manager: Manager
    fields: Fields


def _is_same(one: Manager, manager: Manager) -> bool:
    return (one.name, one.operation, one.subresource) == (manager.name, manager.operation, manager.subresource)


def _wanted(call: Call, body: Any) -> Manifest:
    """The body, validated as far as possible without the stored object."""
    if not call.query.get("fieldManager"):
        cause = Cause("fieldManager", "FieldValueRequired", "Required value: is required for apply patch")
        raise bad_option("Patch", cause)
    if not isinstance(body, dict) or not body.get("apiVersion") or not body.get("kind"):
        raise bad_request("invalid object type: an apply says apiVersion and kind")
    meta = body.get("metadata") or {}
    if meta.get("managedFields"):
        raise bad_request("metadata.managedFields must be nil")
    return decode(call, body, fills=False)


def _create(call: Call, world: World, wanted: Manifest, owners: Owners) -> Answer:
    if call.subresource:
        verbs.find(call, world)
    meta = wanted["metadata"]
    if uid := meta.get("uid"):
        why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        raise conflict(call.resource.plural, call.resource.group, call.name, why)
    meta.pop("resourceVersion", None)
    manifest = prepare_create(call, decode(call, wanted), world)
    ownership.write(manifest, owners)
    if not call.is_dry_run:
        manifest = dict(world.store.put(call.key_of(manifest), manifest).manifest)
    return verbs.answer(call, manifest, 201)


def _abandoned(last: Fields, fields: Fields, others: Owners) -> Fields:
    """The fields that the manager applied before, no longer applies, and no other manager owns."""
    kept = set(fieldsets.with_parents(fields))
    for owned in others.values():
        kept.update(fieldsets.with_parents(owned.fields))
    return set(fieldsets.with_parents(last)) - kept


def _store(request: _Request, old: Stored, states: tuple[Manifest, Manifest], others: Owners) -> Answer:
    live, merged = states
    call, manager, fields = request.call, request.manager, request.fields
    change = ownership.difference(call, live, merged)
    lost = {one: owned.fields & change.written for one, owned in others.items() if owned.fields & change.written}
    if lost and not call.has("force"):
        lost = _disputed(request, live, lost)
        if lost:
            raise _conflicts(lost, others)
    owners = ownership.without(others, change.written | change.removed)
    before = next((owned for one, owned in ownership.read(live).items() if _is_same(one, manager)), None)
    is_unchanged = before is not None and before.fields == fields and not change.written and not change.removed
    owners[manager] = before if before and is_unchanged else Owned(fields, now())
    merged.get("metadata", {}).pop("managedFields", None)
    manifest = decode(call, merged)
    ownership.write(manifest, owners)
    return verbs.replace(call, request.world, old, manifest, is_applied=True)


def _disputed(request: _Request, live: Manifest, lost: dict[Manager, Fields]) -> dict[Manager, Fields]:
    """The conflicts without those with kubectl's own earlier client-side apply."""
    text = (metadata(live).get("annotations") or {}).get(LAST_APPLIED)
    if request.manager.name != "kubectl" or not text:
        return lost
    before = orjson.loads(text)
    schema = resolve(request.call.resource.schema)
    mine = set(fieldsets.said(before, schema)) - ownership.difference(request.call, before, live).written
    return {manager: left for manager, fields in lost.items() if (left := fields - mine)}


def _conflicts(lost: dict[Manager, Fields], others: Owners) -> Failure:
    causes = [
        {
            "reason": "FieldManagerConflict",
            "message": f"conflict with {_named(one, others)}",
            "field": fieldsets.shown(path),
        }
        for one, fields in lost.items()
        for path in sorted(fields)
    ]
    told = []
    for one, fields in lost.items():
        named, paths = _named(one, others), [fieldsets.shown(path) for path in sorted(fields)]
        if len(paths) == 1:
            told.append(f"conflict with {named}: {paths[0]}")
        else:
            told.append(f"conflicts with {named}:\n- " + "\n- ".join(paths))
    count = f"{len(causes)} conflict{'s' if len(causes) > 1 else ''}"
    return Failure(409, "Conflict", f"Apply failed with {count}: " + "\n".join(told), {"causes": causes})


def _named(manager: Manager, others: Owners) -> str:
    name = f'"{manager.name}"' + (f' with subresource "{manager.subresource}"' if manager.subresource else "")
    if manager.is_applier:
        return name
    return f"{name} using {manager.api_version}" + (f" at {others[manager].time}" if others[manager].time else "")
