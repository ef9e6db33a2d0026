"""AdmissionReviews: what a webhook is asked about a write, and whether its response is one."""

from __future__ import annotations

import base64
import binascii
import uuid
from dataclasses import dataclass
from typing import Any

import orjson

from eventing.local.apiserver.outbound import Reply
from eventing.local.apiserver.resources import Resource
from eventing.local.apiserver.webhook_matching import Webhook, Write
from shared.api.manifest import Manifest, ReadOnly

VERSIONS = ("v1", "v1beta1")
GROUP = "admission.k8s.io"
KIND = "AdmissionReview"


class NoReview(Exception):
    """A webhook that cannot be asked, or whose response is not valid; the message says why, as a real API server."""


def _invalid(why: str) -> NoReview:
    return NoReview(f"received invalid webhook response: {why}")


@dataclass(frozen=True, slots=True)
class Decision:
    """The valid response of a webhook."""

    is_allowed: bool
    status: ReadOnly
    """The Status that explains a refusal; may be empty."""
    patch: tuple[ReadOnly, ...] = ()
    warnings: tuple[str, ...] = ()


def request_of(write: Write, desired: Resource, user: ReadOnly, objects: tuple[Any, Any]) -> Manifest:
    """The request of a review, without its uid; `desired` is the version in which the webhook gets the objects."""
    call, own = write.call, write.resource or write.call.resource
    shown = desired if own is call.resource else own
    request: Manifest = {
        "kind": _kind(shown), "resource": _resource(desired), "requestKind": _kind(own),
        "requestResource": _resource(call.resource), "name": write.name, "namespace": write.namespace,
        "operation": write.operation, "userInfo": user, "object": objects[0], "oldObject": objects[1],
        "dryRun": write.is_dry_run, "options": write.options or _options(write),
    }  # fmt: skip
    if call.subresource:
        request |= {"subResource": call.subresource, "requestSubResource": call.subresource}
    return {name: value for name, value in request.items() if value != "" or name == "operation"}


def _kind(resource: Resource) -> Manifest:
    return {"group": resource.group, "version": resource.version, "kind": resource.kind}


def _resource(resource: Resource) -> Manifest:
    return {"group": resource.group, "version": resource.version, "resource": resource.plural}


def _options(write: Write) -> Manifest:
    query = write.call.query
    request: Manifest = {"kind": f"{write.operation.capitalize()}Options", "apiVersion": "meta.k8s.io/v1"}
    request |= {name: query[name] for name in ("fieldManager", "fieldValidation") if query.get(name)}
    return request | ({"dryRun": ["All"]} if write.is_dry_run else {})


def review_of(webhook: Webhook, request: ReadOnly, seed: uuid.UUID) -> tuple[str, bytes]:
    """The uid and the body of a review; the same of a seed and a request. NoReview, when no version is known."""
    version = next((one for one in webhook.settings.get("admissionReviewVersions") or () if one in VERSIONS), None)
    if version is None:
        raise NoReview(
            "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)"
        )
    content = orjson.dumps(request, option=orjson.OPT_SORT_KEYS).decode()
    uid = str(uuid.uuid5(seed, f"{webhook.configuration}/{webhook.name}/{content}"))
    review = {"kind": KIND, "apiVersion": f"{GROUP}/{version}", "request": {"uid": uid, **request}}
    return uid, orjson.dumps(review)


def decision_of(reply: Reply, uid: str, *, is_mutating: bool) -> Decision:
    """The response in a reply. NoReview."""
    if reply.error:
        raise NoReview(f"failed to call webhook: {reply.error}")
    review = reply.body
    if not isinstance(review, dict):
        raise _invalid(f"expected webhook response of {GROUP}/v1, Kind={KIND}, got {review!r}")
    response = review.get("response")
    if not isinstance(response, dict):
        raise _invalid("webhook response was absent")
    if review.get("apiVersion") != f"{GROUP}/v1beta1":
        _check_head(review, response, uid)
        _check_patch(response, is_mutating=is_mutating)
    status = response.get("status")
    return Decision(
        bool(response.get("allowed")), status if isinstance(status, dict) else {},
        _patch(response) if is_mutating else (), tuple(map(str, response.get("warnings") or ())),
    )  # fmt: skip


def _check_head(review: ReadOnly, response: ReadOnly, uid: str) -> None:
    if response.get("uid", "") != uid:
        raise _invalid(f'expected response.uid="{uid}", got "{response.get("uid", "")}"')
    found, desired = (f"{review.get('apiVersion', '')}, Kind={review.get('kind', '')}", f"{GROUP}/v1, Kind={KIND}")
    if found != desired:
        raise _invalid(f"expected webhook response of {desired}, got {found}")


def _check_patch(response: ReadOnly, *, is_mutating: bool) -> None:
    patch, kind = response.get("patch"), response.get("patchType")
    if not is_mutating and (patch or kind is not None):
        raise _invalid(f"validating webhook may not return response.{'patch' if patch else 'patchType'}")
    if patch and kind is None:
        raise _invalid("webhook returned response.patch but not response.patchType")
    if kind is not None and not patch:
        raise _invalid("webhook returned response.patchType but not response.patch")
    if kind == "":
        raise _invalid('webhook returned invalid response.patchType of ""')


def _patch(response: ReadOnly) -> tuple[ReadOnly, ...]:
    if not response.get("patch"):
        return ()
    try:
        operations = orjson.loads(base64.b64decode(response["patch"]))
    except (ValueError, TypeError, binascii.Error) as error:
        raise NoReview(f"received undecodable patch in webhook response: {error}") from error
    if not isinstance(operations, list):
        raise NoReview("received undecodable patch in webhook response: it is not a list")
    return tuple(operations)
