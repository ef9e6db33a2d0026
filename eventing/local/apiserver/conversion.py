"""The versions of an object: a webhook converts those of some custom kinds, all others differ in name only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import orjson

from eventing.local.apiserver.calls import Call
from eventing.local.apiserver.conversion_review import NoConversion, checked, objects_in, review_request
from eventing.local.apiserver.failures import Failure
from eventing.local.apiserver.outbound import asked
from eventing.local.apiserver.resources import Resource
from eventing.local.apiserver.store import Stored
from shared.api.manifest import Manifest, ReadOnly


def to_version(call: Call, resource: Resource, manifest: ReadOnly) -> ReadOnly:
    """An object in a version of its kind. Failure, when the webhook fails; Unanswered."""
    return to_versions(call, resource, [manifest])[0]


def to_versions(call: Call, resource: Resource, manifests: Sequence[ReadOnly]) -> list[ReadOnly]:
    """Objects in a version of their kind, with one question for those that have another."""
    desired = resource.api_version
    others = [one for one in manifests if one["apiVersion"] != desired]
    if resource.converter is None or not others:
        return [one if one["apiVersion"] == desired else {**one, "apiVersion": desired} for one in manifests]
    converted = iter(_converted(call, resource, others))
    return [one if one["apiVersion"] == desired else next(converted) for one in manifests]


def to_storage(call: Call, manifest: ReadOnly) -> Manifest:
    """An object in the version that is stored."""
    resource = call.resource
    if resource.converter is None:
        return dict(manifest)
    return dict(to_version(call, replace(resource, version=resource.stored_version), manifest))


def shown(call: Call, stored: Sequence[Stored]) -> list[Stored]:
    """Stored objects in the version of a call."""
    resource = call.resource
    if resource.converter is None or all(one.manifest["apiVersion"] == resource.api_version for one in stored):
        return list(stored)
    found = to_versions(call, resource, [one.manifest for one in stored])
    return [replace(one, manifest=now, raw=orjson.dumps(now)) for one, now in zip(stored, found, strict=True)]


def _converted(call: Call, resource: Resource, manifests: Sequence[ReadOnly]) -> list[Manifest]:
    before, desired = manifests[0], resource.api_version
    webhook = (resource.converter or {})["webhook"]
    try:
        uid, version, request = review_request(webhook, desired, manifests, call.identity)
        found = objects_in(asked(call.replies, [request])[0], uid, version, len(manifests))
        pairs = enumerate(zip(manifests, found, strict=True))
        return [checked(one, other, desired, index) for index, (one, other) in pairs]
    except NoConversion as error:
        why = f"conversion webhook for {before['apiVersion']}, Kind={resource.kind} {error}"
        raise Failure(500, "", why) from error
