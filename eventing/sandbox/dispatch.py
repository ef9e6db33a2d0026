"""Calls the function that serves a call."""

from __future__ import annotations

from dataclasses import replace as with_changes
from datetime import UTC, datetime
from typing import Any

import orjson

from eventing.sandbox import access, apply, deletion, patches, protobuf, scale, verbs
from eventing.sandbox.admission import decode, require_name
from eventing.sandbox.calls import Call
from eventing.sandbox.failures import (
    Cause,
    Undecodable,
    as_json,
    bad_option,
    bad_request,
    bad_value,
    invalid,
    not_allowed,
    unsupported_media,
)
from eventing.sandbox.resources import resolve
from eventing.sandbox.store import Stored
from eventing.sandbox.verbs import Answer
from eventing.sandbox.world import World
from eventing.sandbox.yaml_body import parse_yaml
from shared.api.manifest import Manifest
from shared.domain.merge_patch import merged

MERGE, STRATEGIC, JSON = (f"application/{name}+json" for name in ("merge-patch", "strategic-merge-patch", "json-patch"))
PATCHES = (MERGE, STRATEGIC, JSON)
REVIEWS = ("authorization.k8s.io", "authentication.k8s.io")


def serve(call: Call, world: World, body: bytes, content_type: str, *, accept: str) -> Answer:
    """The answer to an authorized call."""
    if call.resource.group in REVIEWS:
        return _review(call, world, body, content_type)
    if call.subresource in _SUBRESOURCES:
        return _SUBRESOURCES[call.subresource](call, world, body, content_type)
    match call.verb:
        case "get":
            return verbs.get(call, world, accept)
        case "list":
            return verbs.list_objects(call, world, accept)
        case "create" if not call.subresource:
            return verbs.create(call, world, _decoded(call, body, content_type))
        case "update" if call.name:
            return verbs.update(call, world, _decoded(call, body, content_type))
        case "patch" if call.name:
            return _patch(call, world, body, content_type)
        case "delete" if not call.subresource:
            return deletion.delete(call, world, _options(body))
        case "deletecollection":
            return deletion.delete_all(call, world, _options(body))
    raise not_allowed()


def _options(body: bytes) -> Any:
    """The DeleteOptions in a body; they are JSON even from clients that send objects in protobuf."""
    return parse_json(body) if body else {}


def _decoded(call: Call, body: bytes, content_type: str) -> Any:
    if content_type.startswith(protobuf.MEDIA):
        return protobuf.decode(body, call.resource)
    if content_type.startswith("application/yaml"):
        return parse_yaml(body)
    if content_type and not content_type.startswith("application/json"):
        raise unsupported_media("application/json, application/yaml, application/vnd.kubernetes.protobuf")
    return parse_json(body)


def parse_json(body: bytes) -> Any:
    """A JSON body."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise bad_request(f"couldn't get version/kind; json parse error: {error}") from error


def _patch(call: Call, world: World, body: bytes, content_type: str) -> Answer:
    kind = content_type.partition(";")[0]
    if kind == "application/apply-patch+yaml":
        return apply.apply(call, world, parse_yaml(body))
    if kind not in PATCHES or (kind == STRATEGIC and call.resource.is_custom):
        raise unsupported_media(
            "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
        )
    if call.has("force"):
        why = "Forbidden: may not be specified for non-apply patch"
        raise bad_option("Patch", Cause("force", "FieldValueForbidden", why))
    old = verbs.find(call, world)
    patched = _patched(call, old, body, kind)
    try:
        manifest = decode(call, patched)
    except Undecodable as error:
        raise invalid("", "", "", [bad_value("patch", as_json(patched), error.why)]) from error
    require_name(call, manifest["metadata"])
    return verbs.replace(call, world, old, manifest)


def _patched(call: Call, old: Stored, body: bytes, kind: str) -> Manifest:
    before = orjson.loads(old.at(call.resource.api_version))
    given = parse_json(body)
    if kind == MERGE:
        after = merged(before, given)
    elif kind == STRATEGIC:
        after = patches.strategic(before, given, resolve(call.resource.schema))
    else:
        after = patches.json_patch(before, given)
    says_version = isinstance(given, dict) and "resourceVersion" in (given.get("metadata") or {})
    meta = after.get("metadata") if isinstance(after, dict) else None
    if isinstance(meta, dict) and not says_version:
        meta["resourceVersion"] = before["metadata"]["resourceVersion"]
    found: Manifest = after
    return found


def _review(call: Call, world: World, body: bytes, content_type: str) -> Answer:
    manifest = decode(call, _decoded(call, body, content_type))
    manifest["metadata"].pop("creationTimestamp", None)
    return verbs.answer(call, access.review(call.resource.kind, manifest, call.user, world), 201)


def _scale(call: Call, world: World, body: bytes, _content_type: str) -> Answer:
    old = verbs.find(call, world)
    shown = scale.read(call.resource, old.manifest)
    if call.verb == "get":
        return Answer(200, orjson.dumps(shown))
    if call.verb == "patch":
        given = parse_json(body)
        wanted = patches.json_patch(shown, given) if isinstance(given, list) else merged(shown, given)
    elif call.verb == "update":
        wanted = parse_json(body)
    else:
        raise not_allowed()
    whole = with_changes(call, subresource="")
    changed = scale.write(call.resource, orjson.loads(old.at(call.resource.api_version)), wanted)
    done = verbs.replace(whole, world, old, decode(whole, changed))
    return Answer(done.code, orjson.dumps(scale.read(call.resource, orjson.loads(done.body))))


def _token(call: Call, world: World, body: bytes, content_type: str) -> Answer:
    if call.verb != "create":
        raise not_allowed()
    account = verbs.find(call, world)
    spec = {} if content_type.startswith(protobuf.MEDIA) else parse_json(body).get("spec") or {}
    token, end = access.token_for(account.manifest, int(spec.get("expirationSeconds") or 3600), world)
    status = {"token": token, "expirationTimestamp": datetime.fromtimestamp(end, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
    made = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "metadata": {}, "spec": spec}
    return Answer(201, orjson.dumps({**made, "status": status}))


_SUBRESOURCES = {"scale": _scale, "token": _token}
