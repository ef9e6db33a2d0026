"""Server-side apply: fields the manager no longer applies are removed, fields of other managers are conflicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from eventing.local.apiserver import conversion, fieldsets, ownership, typed_patch, verbs
from eventing.local.apiserver.admission import prepare_create, require_name
from eventing.local.apiserver.calls import Call
from eventing.local.apiserver.decoding import decode
from eventing.local.apiserver.failures import Cause, Failure, bad_option, bad_request, conflict, unexplained
from eventing.local.apiserver.fieldsets import Fields
from eventing.local.apiserver.ownership import Manager, Owned, Owners
from eventing.local.apiserver.resources import Node, resolve
from eventing.local.apiserver.store import Stored
from eventing.local.apiserver.verbs import Answer
from eventing.local.apiserver.world import World
from shared.api.manifest import Manifest, ReadOnly, metadata

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def apply(call: Call, world: World, body: Any) -> Answer:
    """Set the fields of the body, and make the manager their owner."""
    schema = resolve(call.resource.schema)
    stored = world.store.get((call.resource.table, call.namespace, call.name))
    old = conversion.shown(call, [stored])[0] if stored else None
    if old is None and call.subresource:
        verbs.find(call, world)
    _check(call, body, schema)
    manager = Manager(call.query["fieldManager"], "Apply", call.resource.api_version, call.subresource)
    fields = {path for path in fieldsets.set_paths(body, schema) if ownership.is_counted(path, call)}
    desired = decode(call, orjson.loads(orjson.dumps(body)), fills=False)
    if old is None:
        return _create(call, world, desired, {manager: Owned(fields, call.time)})
    live: Manifest = orjson.loads(old.at(call.resource.api_version))
    owners = ownership.read(live) or _unowned(call, live)
    merged = fieldsets.merge(live, body, schema)
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


def _unowned(call: Call, live: ReadOnly) -> Owners:
    """The owner of all fields of an object that nobody owns yet."""
    fields = ownership.difference(call, None, live).written
    return {Manager("before-first-apply", "Update", call.resource.api_version): Owned(fields, call.time)}


def _check(call: Call, body: Any, schema: Node) -> None:
    """Raise Failure for a body that cannot be applied, whatever is stored."""
    if not call.query.get("fieldManager"):
        cause = Cause("fieldManager", "FieldValueRequired", "Required value: is required for apply patch")
        raise bad_option("Patch", cause)
    if not isinstance(body, dict) or not body.get("apiVersion") or not body.get("kind"):
        raise bad_request("invalid object type: an apply says apiVersion and kind")
    meta = body["metadata"] if isinstance(body.get("metadata"), dict) else {}
    if meta.get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")
    if sentences := list(typed_patch.misapplied(body, schema)):
        message = sentences[0] if len(sentences) == 1 else "errors:\n  " + "\n  ".join(sentences)
        resource = call.resource
        place = f"{meta.get('namespace') or ''}/{meta.get('name') or ''}"
        kind = f"{resource.group}/{resource.version}, Kind={resource.kind}"
        raise unexplained(f"failed to create typed patch object ({place}; {kind}): {message}")
    require_name(call, meta)


def _create(call: Call, world: World, desired: Manifest, owners: Owners) -> Answer:
    meta = desired["metadata"]
    if uid := meta.get("uid"):
        why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        raise conflict(call.resource.plural, call.resource.group, call.name, why)
    meta.pop("resourceVersion", None)
    made = decode(call, desired, keeps_nulls=True)
    manifest = prepare_create(call, made, world, record=lambda one: ownership.write(one, owners))
    kept = manifest if call.is_dry_run else verbs.keep(call, world, call.key_of(manifest), manifest)
    return verbs.answer(call, kept, 201)


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
            raise _conflicts(lost)
    owners = ownership.without(others, change.written | change.removed)
    before = next((owned for one, owned in ownership.read(live).items() if _is_same(one, manager)), None)
    is_changed = change.written or change.removed
    owners[manager] = Owned(fields, call.time if is_changed else before.time if before else "")
    merged.get("metadata", {}).pop("managedFields", None)
    manifest = decode(call, merged, keeps_nulls=True)
    ownership.write(manifest, owners)
    return verbs.replace(call, request.world, old, manifest, is_applied=True)


def _disputed(request: _Request, live: Manifest, lost: dict[Manager, Fields]) -> dict[Manager, Fields]:
    """The conflicts without those with kubectl's own earlier client-side apply."""
    text = (metadata(live).get("annotations") or {}).get(LAST_APPLIED)
    if request.manager.name != "kubectl" or not text:
        return lost
    schema = resolve(request.call.resource.schema)
    try:
        before = orjson.loads(text)
    except orjson.JSONDecodeError:
        return lost  # the annotation may be any text
    if any(typed_patch.misapplied(before, schema)):
        return lost
    mine = set(fieldsets.set_paths(before, schema)) - ownership.difference(request.call, before, live).written
    return {manager: left for manager, fields in lost.items() if (left := fields - mine)}


def _conflicts(lost: dict[Manager, Fields]) -> Failure:
    causes = [
        {
            "reason": "FieldManagerConflict",
            "message": f"conflict with {_named(one)}",
            "field": fieldsets.shown(path),
        }
        for one, fields in lost.items()
        for path in sorted(fields)
    ]
    message = []
    for one, fields in lost.items():
        named, paths = _named(one), [fieldsets.shown(path) for path in sorted(fields)]
        if len(paths) == 1:
            message.append(f"conflict with {named}: {paths[0]}")
        else:
            message.append(f"conflicts with {named}:\n- " + "\n- ".join(paths))
    count = f"{len(causes)} conflict{'s' if len(causes) > 1 else ''}"
    return Failure(409, "Conflict", f"Apply failed with {count}: " + "\n".join(message), {"causes": causes})


def _named(manager: Manager) -> str:
    name = f'"{manager.name}"' + (f' with subresource "{manager.subresource}"' if manager.subresource else "")
    return name if manager.is_applier else f"{name} using {manager.api_version}"
