"""Calls the function that serves a call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as with_changes
from typing import Any

import orjson

from eventing.local.apiserver import apply, authentication, bodies, deletion, patches, reviews, verbs, webhooks
from eventing.local.apiserver.admission import require_name
from eventing.local.apiserver.calls import Call
from eventing.local.apiserver.decoding import decode
from eventing.local.apiserver.failures import (
    Cause,
    Failure,
    Undecodable,
    as_json,
    bad_option,
    bad_request,
    bad_value,
    invalid,
    not_allowed,
    unsupported_media,
)
from eventing.local.apiserver.resources import Node, Resource, resolve
from eventing.local.apiserver.tables import json_path
from eventing.local.apiserver.verbs import Answer
from eventing.local.apiserver.webhook_matching import Write
from eventing.local.apiserver.world import World
from shared.api.manifest import Manifest, ReadOnly, metadata
from shared.domain.merge_patch import merged

MERGE, STRATEGIC, JSON = (f"application/{name}+json" for name in ("merge-patch", "strategic-merge-patch", "json-patch"))
APPLY = "application/apply-patch+yaml"
PATCHES = (MERGE, STRATEGIC, JSON)
REVIEWS = ("authorization.k8s.io", "authentication.k8s.io")
_SCALE_PATHS = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}


def serve(call: Call, world: World, body: bytes, content_type: str, *, accept: str) -> Answer:
    """The answer to an authorized call."""
    try:
        return _served(call, world, body, content_type, accept=accept)
    except (RecursionError, orjson.JSONEncodeError) as error:
        raise bad_request(f"the object is nested too deeply for the sandbox: {error}") from error


def _served(call: Call, world: World, body: bytes, content_type: str, *, accept: str) -> Answer:
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
            return verbs.create(call, world, bodies.read(body, content_type, call.resource.schema))
        case "update" if call.name:
            return verbs.update(call, world, bodies.read(body, content_type, call.resource.schema))
        case "patch" if call.name:
            return _patch(call, world, body, content_type)
        case "delete" if not call.subresource:
            return deletion.delete(call, world, _options(body))
        case "deletecollection":
            return deletion.delete_all(call, world, _options(body))
    raise not_allowed()


def _options(body: bytes) -> Manifest:
    """The DeleteOptions in a body; they are JSON even from clients that send objects in protobuf."""
    return bodies.typed(bodies.parse_json(body), bodies.DELETE_OPTIONS) if body else {}


def _patch(call: Call, world: World, body: bytes, content_type: str) -> Answer:
    if content_type.startswith(APPLY):
        return apply.apply(call, world, bodies.parse_yaml(body))
    kind = _kind_of_patch(call, content_type)
    if call.has("force"):
        why = "Forbidden: may not be specified for non-apply patch"
        raise bad_option("Patch", Cause("force", "FieldValueForbidden", why))
    old = verbs.find(call, world)
    patch = bodies.parse_json(body)
    before = orjson.loads(old.at(call.resource.api_version))
    patched = _patched(kind, before, patch, call.resource.schema)
    match patch, patched:
        case {"metadata": {"resourceVersion": _}}, _:
            pass
        case _, {"metadata": dict(meta)}:
            meta["resourceVersion"] = before["metadata"]["resourceVersion"]
    manifest = _decoded(patched, lambda: decode(call, patched))
    require_name(call, manifest["metadata"])
    return verbs.replace(call, world, old, manifest)


def _kind_of_patch(call: Call, content_type: str) -> str:
    kind = content_type.partition(";")[0]
    if kind not in PATCHES or (kind == STRATEGIC and call.resource.is_custom):
        raise unsupported_media(f"{JSON}, {MERGE}, {APPLY}")
    return kind


def _patched(kind: str, before: Manifest, patch: Any, schema: Node) -> Any:
    if kind == MERGE:
        return merged(before, patch)
    if kind == STRATEGIC:
        return patches.strategic(before, patch, resolve(schema))
    return patches.json_patch(before, patch)


def _decoded(patched: Any, decoding: Callable[[], Manifest]) -> Manifest:
    """The decoded result of a patch."""
    try:
        return decoding()
    except Undecodable as error:
        raise invalid("", "", "", [bad_value("patch", as_json(patched), error.why)]) from error


def _review(call: Call, world: World, body: bytes, content_type: str) -> Answer:
    manifest = decode(call, bodies.read(body, content_type, call.resource.schema))
    manifest["metadata"].pop("creationTimestamp", None)
    return verbs.answer(call, reviews.review(call.resource.kind, manifest, call.user, world), 201)


def _scale(call: Call, world: World, body: bytes, content_type: str) -> Answer:
    old = verbs.find(call, world)
    shown = scale_of(call.resource, old.manifest)
    if call.verb == "get":
        return Answer(200, orjson.dumps(shown))
    if call.verb == "patch":
        patched = _patched(_kind_of_patch(call, content_type), shown, bodies.parse_json(body), bodies.SCALE)
        desired = _decoded(patched, lambda: bodies.typed(patched, bodies.SCALE))
    elif call.verb == "update":
        desired = bodies.typed(bodies.read(body, content_type, bodies.SCALE), bodies.SCALE)
    else:
        raise not_allowed()
    write = Write(call, "UPDATE", desired, shown, call.name, resource=SCALED, is_dry_run=call.is_dry_run)
    desired = dict(webhooks.mutate(write, world, lambda patched: bodies.typed(patched, bodies.SCALE)).object or {})
    webhooks.validate(with_changes(write, object=desired), world)
    whole = with_changes(call, subresource="")
    changed = with_scale(call.resource, orjson.loads(old.at(call.resource.api_version)), desired)
    done = verbs.replace(whole, with_changes(world, asks_others=False), old, decode(whole, changed))
    return Answer(done.code, orjson.dumps(scale_of(call.resource, orjson.loads(done.body))))


def _token(call: Call, world: World, body: bytes, content_type: str) -> Answer:
    if call.verb != "create":
        raise not_allowed()
    account = verbs.find(call, world)
    request = bodies.typed(bodies.read(body, content_type, bodies.TOKEN_REQUEST), bodies.TOKEN_REQUEST)
    return Answer(201, orjson.dumps(authentication.granted(request, account.manifest, world)))


SCALED = Resource("autoscaling", "v1", "scales", "Scale", "scale", is_namespaced=True, verbs=(), schema=bodies.SCALE)
"""The kind of the objects of `scale`, which webhooks get."""


_SUBRESOURCES = {"scale": _scale, "token": _token}


def scale_of(resource: Resource, manifest: ReadOnly) -> Manifest:
    """The Scale of an object."""
    paths = resource.scale or _SCALE_PATHS
    meta = metadata(manifest)
    if resource.scale and not [*json_path(paths["specReplicasPath"], manifest)]:
        why = f'the spec replicas field "{paths["specReplicasPath"]}" does not exist'
        raise Failure(500, "InternalError", f"Internal error occurred: {why}")
    shown = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    status: Manifest = {"replicas": _first(paths["statusReplicasPath"], manifest, 0)}
    if selector := _selector(resource, manifest):
        status["selector"] = selector
    return {
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {k: meta[k] for k in shown if k in meta},
        "spec": {"replicas": _first(paths["specReplicasPath"], manifest, 0)}, "status": status,
    }  # fmt: skip


def _first(path: str, manifest: ReadOnly, default: Any) -> Any:
    return next(iter(json_path(path, manifest)), default)


def _selector(resource: Resource, manifest: ReadOnly) -> str:
    if resource.scale:
        path = resource.scale.get("labelSelectorPath")
        return str(_first(path, manifest, "")) if path else ""
    labels = manifest["spec"].get("selector", {}).get("matchLabels", {})
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))


def with_scale(resource: Resource, manifest: Manifest, desired: Manifest) -> Manifest:
    """The object with the replicas of a Scale."""
    replicas = (desired.get("spec") or {}).get("replicas", 0)
    *above, last = (resource.scale or _SCALE_PATHS)["specReplicasPath"].strip(".").split(".")
    target = manifest
    for name in above:
        target = target.setdefault(name, {})
    target[last] = replicas
    if version := (desired.get("metadata") or {}).get("resourceVersion"):
        manifest["metadata"]["resourceVersion"] = version
    else:
        manifest["metadata"].pop("resourceVersion", None)
    return manifest
