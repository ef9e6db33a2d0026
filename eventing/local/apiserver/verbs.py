"""The verbs create, get, list and update: each receives a call and returns an answer."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from typing import Any

import orjson

from eventing.local.apiserver import conversion, selectors, tables
from eventing.local.apiserver.admission import place, prepare_create, prepare_update, require_name
from eventing.local.apiserver.calls import Call
from eventing.local.apiserver.decoding import decode
from eventing.local.apiserver.failures import (
    Cause,
    Failure,
    already_exists,
    bad_option,
    bad_request,
    expired,
    invalid,
    not_allowed,
    not_found,
    unsupported,
)
from eventing.local.apiserver.forms import form_of, list_head, render
from eventing.local.apiserver.numbers import not_unsigned
from eventing.local.apiserver.ownership import record_update
from eventing.local.apiserver.store import Key, Stored
from eventing.local.apiserver.world import World
from shared.api.manifest import Manifest, ReadOnly, metadata

LIST_MATCHES = ("Exact", "NotOlderThan", "")


@dataclass(frozen=True, slots=True)
class Answer:
    """The code and body of an answer."""

    code: int
    body: bytes


def answer(call: Call, manifest: ReadOnly, code: int = 200) -> Answer:
    """The answer with an object, in the version of the call."""
    return Answer(code, orjson.dumps({**manifest, "apiVersion": call.resource.api_version}))


def find(call: Call, world: World) -> Stored:
    """The object that the call names, in the version of the call. Failure when it does not exist."""
    stored = world.store.get((call.resource.table, call.namespace, call.name))
    if stored is None:
        raise not_found(call.resource.plural, call.resource.group, call.name)
    return conversion.shown(call, [stored])[0]


def keep(call: Call, world: World, key: Key, manifest: Manifest) -> ReadOnly:
    """Store an object in the version that is stored; returns it with its resourceVersion in the version of the call."""
    stored = world.store.put(key, conversion.to_storage(call, manifest))
    meta = {**manifest["metadata"], "resourceVersion": str(stored.revision)}
    return {**manifest, "metadata": meta}


def get(call: Call, world: World, accept: str) -> Answer:
    """Answer with one object."""
    stored = find(call, world)
    form = form_of(accept)
    if form == "table":
        return Answer(200, tables.table(call.resource, [stored], {"resourceVersion": str(stored.revision)}, call.query))
    return Answer(200, render(form, call.resource, stored))


def matching(call: Call) -> selectors.Predicate:
    """The selectors of a call as one predicate."""
    by_label = selectors.labels(call.query.get("labelSelector", ""))
    by_field = selectors.fields(call.query.get("fieldSelector", ""), selectors.selectable(call.resource))
    if not call.query.get("labelSelector") and not call.query.get("fieldSelector"):
        return lambda _: True
    return lambda manifest: by_label(manifest) and by_field(manifest)


def list_objects(call: Call, world: World, accept: str) -> Answer:
    """Answer with a list, or one page of it."""
    check_list_options(call, world)
    revision, after = _resume(call, world)
    is_match = matching(call)
    found = [one for one in world.store.list(call.resource.table, call.namespace) if is_match(one.manifest)]
    if after:
        found = [one for one in found if one.key[1:] > after]
    meta: Manifest = {"resourceVersion": str(revision)}
    limit = call.number("limit")
    if 0 < limit < len(found):
        meta["continue"] = _token(revision, found[limit - 1].key)
        if not call.query.get("labelSelector") and not call.query.get("fieldSelector"):
            meta["remainingItemCount"] = len(found) - limit
        found = found[:limit]
    form, found = form_of(accept), conversion.shown(call, found)
    if form == "table":
        return Answer(200, tables.table(call.resource, found, meta, call.query))
    items = [orjson.Fragment(render(form, call.resource, one)) for one in found]
    return Answer(200, orjson.dumps({**list_head(form, call.resource), "metadata": meta, "items": items}))


def _token(revision: int, key: Key) -> str:
    return base64.urlsafe_b64encode(orjson.dumps([revision, *key[1:]])).decode().rstrip("=")


def _resume(call: Call, world: World) -> tuple[int, tuple[str, str] | None]:
    text = call.query.get("continue", "")
    if not text:
        return world.store.revision, None
    try:
        token = orjson.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except ValueError:
        token = None
    match token:
        case [int(revision), str(namespace), str(name)] if world.store.reaches(revision):
            return revision, (namespace, name)
        case [int(revision), str(), str()]:
            raise expired(revision, world.store.oldest)
    raise bad_request("invalid continue token: continue key is not valid")


def create(call: Call, world: World, body: Any) -> Answer:
    """Create an object."""
    if call.name or (call.resource.is_namespaced and not call.namespace):
        raise not_allowed()
    manifest = prepare_create(call, decode(call, body), world, record=lambda made: record_update(call, None, made))
    key = call.key_of(manifest)
    if world.store.get(key):
        raise already_exists(call.resource.plural, call.resource.group, key[2])
    return answer(call, manifest if call.is_dry_run else keep(call, world, key, manifest), 201)


def update(call: Call, world: World, body: Any) -> Answer:
    """Replace an object; some kinds are created when they are absent."""
    manifest, resource = decode(call, body), call.resource
    require_name(call, manifest["metadata"])
    place(call, manifest["metadata"])
    version = metadata(manifest).get("resourceVersion")
    if resource.kind in CREATED_BY_UPDATE and not version and not world.store.get(call.key_of(manifest)):
        return create(replace_fields(call, name=""), world, manifest)
    old = find(call, world)
    if not version and (resource.is_custom or resource.kind in UPDATED_WITH_VERSION):
        sentence = f"Invalid value: {'0x0' if resource.is_custom else 0}: must be specified for an update"
        cause = Cause("metadata.resourceVersion", "FieldValueInvalid", sentence)
        raise invalid(resource.plural, resource.group, call.name, [cause])
    return replace(call, world, old, manifest)


CREATED_BY_UPDATE = frozenset({
    "Endpoints", "Event", "LimitRange", "Service", "Lease", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding",
})  # fmt: skip
"""Kinds that an update creates when they are absent."""


UPDATED_WITH_VERSION = frozenset({
    "Lease", "PodDisruptionBudget", "CustomResourceDefinition", "APIService", "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
})  # fmt: skip
"""Kinds whose updates have to contain a resourceVersion, as those of all custom kinds."""


def replace(call: Call, world: World, old: Stored, manifest: Manifest, *, is_applied: bool = False) -> Answer:
    """Store the next state of an object; nothing is written when nothing changed."""

    def record(made: Manifest) -> None:
        if not is_applied:
            record_update(call, old.manifest, made)

    manifest = prepare_update(call, old, manifest, world, record=record)
    if _same(old.manifest, manifest):
        return answer(call, old.manifest)
    if call.is_dry_run:
        return answer(call, manifest)
    meta = manifest["metadata"]
    if meta.get("deletionTimestamp") and not meta.get("finalizers") and old.key[0] != "/namespaces":
        kept = keep(call, world, old.key, manifest)
        gone = world.store.remove(old.key)
        return answer(call, {**kept, "metadata": {**kept["metadata"], "resourceVersion": str(gone.revision)}})
    return answer(call, keep(call, world, old.key, manifest))


def _same(old: ReadOnly, new: ReadOnly) -> bool:
    """Whether the objects are equal except for the times in managedFields."""
    if old.keys() != new.keys() or any(
        old[name] != new[name] for name in old if name not in ("metadata", "apiVersion")
    ):
        return False
    left, right = ({**metadata(one), "managedFields": None} for one in (old, new))
    return left == right and _owners(old) == _owners(new)


def _owners(manifest: ReadOnly) -> list[Manifest]:
    return [{**entry, "time": None} for entry in metadata(manifest).get("managedFields") or []]


def check_list_options(call: Call, world: World) -> None:
    """Raise Failure unless the options of a list are valid and the store has reached the wanted revision."""
    call.number("timeoutSeconds")
    if causes := [*_defects(call)]:
        raise bad_option("List", *causes)
    desired = call.query.get("resourceVersion", "")
    if desired and call.query.get("continue"):
        if desired != "0":
            raise bad_request("specifying resource version is not allowed when using continue")
        return
    if desired and (why := not_unsigned(desired)):
        raise bad_request(f'invalid resource version: resourceVersion: Invalid value: "{desired}": {why}')
    if desired and int(desired) > world.store.revision:
        raise _too_large(int(desired), world.store.revision)


def _too_large(desired: int, present: int) -> Failure:
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    message = f"Timeout: Too large resource version: {desired}, current: {present}"
    return Failure(504, "Timeout", message, {"causes": [cause], "retryAfterSeconds": 1})


def _defects(call: Call) -> Iterator[Cause]:
    query = call.query
    match, version = query.get("resourceVersionMatch", ""), query.get("resourceVersion", "")
    if match and not version:
        yield _forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided")
    if match and query.get("continue"):
        yield _forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided")
    if match not in LIST_MATCHES:
        yield unsupported("resourceVersionMatch", match, *LIST_MATCHES)
    if match == "Exact" and version == "0":
        why = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
        yield _forbidden("resourceVersionMatch", why)
    if "sendInitialEvents" in query:
        yield _forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list")


def _forbidden(path: str, why: str) -> Cause:
    return Cause(path, "FieldValueForbidden", f"Forbidden: {why}")
