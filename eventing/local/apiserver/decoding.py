"""Makes an object of what a client sent: its kind, its known fields, the types and defaults of its schema."""

from __future__ import annotations

from typing import Any

from eventing.local.apiserver.calls import Call
from eventing.local.apiserver.failures import bad_request, undecodable
from eventing.local.apiserver.resources import resolve
from eventing.local.apiserver.schema import fill, prune, settle
from eventing.local.apiserver.validation import misfit
from shared.api.manifest import Manifest
from shared.domain.go.text import quoted


def decode(call: Call, manifest: Any, *, fills: bool = True, keeps_nulls: bool = False) -> Manifest:
    """An object of the kind of the call, without unknown fields; with the defaults of its schema, if `fills`."""
    resource = call.resource
    if not isinstance(manifest, dict):
        raise bad_request("the object provided is unrecognized (must be of type object)")
    for key, desired in (("apiVersion", resource.api_version), ("kind", resource.kind)):
        manifest[key] = manifest.get(key) or desired
        if manifest[key] != desired:
            raise bad_request(
                f"the {'API version' if key == 'apiVersion' else 'kind'} in the data ({manifest[key]}) does not match "
                f"the expected {'API version' if key == 'apiVersion' else 'kind'} ({desired})"
            )
    if manifest.get("metadata") is None:
        manifest["metadata"] = {}
    _drop_unknown(call, manifest)
    schema = resolve(resource.schema)
    if not resource.is_custom:
        if sentence := misfit(manifest, schema):
            raise undecodable(resource.kind, resource.version, sentence)
        return settle(manifest, schema)  # type: ignore[no-any-return]  # an object settles to an object
    meta = resolve(schema["properties"]["metadata"])
    if sentence := misfit(manifest["metadata"], meta, "metadata"):
        raise undecodable(resource.kind, resource.version, sentence)
    manifest["metadata"] = settle(manifest["metadata"], meta)
    if fills:
        fill(manifest, schema, keeps_nulls=keeps_nulls)
    return manifest


def _drop_unknown(call: Call, manifest: Manifest) -> None:
    unknown = prune(manifest, resolve(call.resource.schema))
    if not unknown:
        return
    if call.is_strict:
        message = ", ".join(f"unknown field {quoted(path)}" for path in sorted(unknown))
        raise undecodable(call.resource.kind, call.resource.version, f"strict decoding error: {message}")
    if call.query.get("fieldValidation") != "Ignore":
        call.warnings.extend(f"unknown field {quoted(path)}" for path in sorted(unknown))
