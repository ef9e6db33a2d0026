"""The OpenAPI v3 documents, which kubectl reads for apply, explain and validation."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

from eventing.local.apiserver.failures import no_such_path
from eventing.local.apiserver.resources import Node, Registry, Resource, types
from shared.api.manifest import Manifest

V2, V2_MEDIA = "/openapi/v2", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
"""The OpenAPI v2 document, which is empty: clients use v3."""
_PREFIX = "#/components/schemas/"
_METHODS = {"get": "get", "list": "get", "create": "post", "update": "put", "patch": "patch", "delete": "delete",
            "deletecollection": "delete"}  # fmt: skip
_ACTIONS = {"create": "post", "update": "put", "deletecollection": "deletecollection"}
_PATCHES = ("application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml")
_STRATEGIC = "application/strategic-merge-patch+json"


def describe(path: str, registry: Registry) -> Manifest | None:
    """The body of a path below /openapi; None when there is no such document."""
    match path.strip("/").split("/"):
        case ["openapi", "v3"]:
            return {
                "paths": {
                    _place(g, v): {"serverRelativeURL": _url(g, v, registry)}
                    for g, vs in registry.versions()
                    for v in vs
                }
            }
        case ["openapi", "v3", "api", version]:
            return _document("", version, registry)
        case ["openapi", "v3", "apis", group, version]:
            return _document(group, version, registry)
        case ["openapi", *_]:
            raise no_such_path()
    return None


def _place(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _url(group: str, version: str, registry: Registry) -> str:
    """The URL of a document with a hash of its content, so that clients may cache it."""
    content = [orjson.dumps([one.plural, one.schema]) for one in registry.in_version(group, version)]
    return f"/openapi/v3/{_place(group, version)}?hash={hashlib.sha256(b''.join(content)).hexdigest()[:32].upper()}"


def _document(group: str, version: str, registry: Registry) -> Manifest:
    found = registry.in_version(group, version)
    if not found:
        raise no_such_path()
    schemas: dict[str, Node] = {}
    paths: dict[str, Node] = {}
    for resource in found:
        name = _name(resource)
        schemas[name] = {**_schema(resource, schemas), "x-kubernetes-group-version-kind": [_gvk(resource)]}
        paths |= _paths(resource, name)
    info = {"title": "olm-functions sandbox", "version": "v1"}
    return {"openapi": "3.0.0", "info": info, "paths": paths, "components": {"schemas": schemas}}


def _gvk(resource: Resource) -> Manifest:
    return {"group": resource.group, "version": resource.version, "kind": resource.kind}


def _name(resource: Resource) -> str:
    ref = resource.schema.get("$ref")
    if isinstance(ref, str):
        return ref
    reverse = ".".join(reversed(resource.group.split(".")))
    return f"{reverse}.{resource.version}.{resource.kind}"


def _schema(resource: Resource, schemas: dict[str, Node]) -> Node:
    ref = resource.schema.get("$ref")
    node = types()[ref] if isinstance(ref, str) else {"type": "object", **resource.schema}
    shown: Node = _expanded(node, schemas)
    return shown


def _expanded(node: Any, schemas: dict[str, Node]) -> Any:
    """A schema with full references; the schemas to which they refer are added to `schemas`."""
    if isinstance(node, list):
        return [_expanded(one, schemas) for one in node]
    if not isinstance(node, dict):
        return node
    ref = node.get("$ref")
    if not isinstance(ref, str):
        return {name: _expanded(value, schemas) for name, value in node.items()}
    if ref not in schemas:
        schemas[ref] = {}
        schemas[ref] = _expanded(types()[ref], schemas)
    rest = {name: _expanded(value, schemas) for name, value in node.items() if name != "$ref"}
    return {**rest, "allOf": [{"$ref": _PREFIX + ref}]}


def _paths(resource: Resource, name: str) -> dict[str, Node]:
    base = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
    place = f"{base}/namespaces/{{namespace}}" if resource.is_namespaced else base
    collection, item = f"{place}/{resource.plural}", f"{place}/{resource.plural}/{{name}}"
    paths: dict[str, Node] = {collection: {}, item: {}}
    for verb in resource.verbs:
        if verb in _METHODS:
            target = collection if verb in ("list", "create", "deletecollection") else item
            paths[target][_METHODS[verb]] = _operation(resource, verb, name)
    return {path: operations for path, operations in paths.items() if operations}


def _operation(resource: Resource, verb: str, name: str) -> Node:
    ref = {"schema": {"$ref": _PREFIX + name}}
    operation: Node = {
        "operationId": f"{verb}{resource.group}{resource.version}{resource.kind}",
        "responses": {"200": {"description": "OK", "content": {"application/json": ref}}},
        "x-kubernetes-action": _ACTIONS.get(verb, verb), "x-kubernetes-group-version-kind": _gvk(resource),
    }  # fmt: skip
    if verb in ("create", "update", "patch", "delete", "deletecollection"):
        names = ("dryRun",) if verb.startswith("delete") else ("dryRun", "fieldManager", "fieldValidation", "force")
        operation["parameters"] = [{"name": n, "in": "query", "schema": {"type": "string"}} for n in names]
    if verb in ("create", "update", "patch"):
        media = ("*/*",) if verb != "patch" else _PATCHES if resource.is_custom else (*_PATCHES, _STRATEGIC)
        operation["requestBody"] = {"content": dict.fromkeys(media, ref)}
    return operation
