"""The review that a conversion webhook gets, and what makes its response a conversion."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from itertools import chain
from typing import Any

import orjson

from eventing.local.apiserver.metadata_rules import annotation_defects, label_defects
from eventing.local.apiserver.outbound import Reply, ReviewRequest, address_of
from shared.api.manifest import Manifest, ReadOnly, metadata
from shared.domain.go.json import TYPES, kind_of, misfit

VERSIONS = ("v1", "v1beta1")
GROUP = "apiextensions.k8s.io"
KIND = "ConversionReview"
SECONDS = 30
_SAME = (("name", "name"), ("namespace", "namespace"), ("uid", "UID"))
"""Metadata that a conversion does not change, and what it is called; of the rest only labels and annotations count."""
_FIELDS: tuple[tuple[str, type, str], ...] = (
    ("uid", str, "types.UID"), ("convertedObjects", list, "[]runtime.RawExtension"), ("result", dict, "v1.Status"),
)  # fmt: skip
"""Fields of a response, and their types in Python and in Go."""
_HEAD = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'


class NoConversion(Exception):
    """The response of a conversion webhook is no conversion; the message says why, as a real API server."""


def review_request(
    webhook: ReadOnly, api_version: str, manifests: Sequence[ReadOnly], seed: uuid.UUID
) -> tuple[str, str, ReviewRequest]:
    """The uid, the version and the request of a review; the same of a seed and objects. NoConversion."""
    version = next((one for one in webhook["conversionReviewVersions"] if one in VERSIONS), None)
    if version is None:
        raise NoConversion("failed: no supported conversion review versions")
    content = orjson.dumps([api_version, *manifests], option=orjson.OPT_SORT_KEYS)
    uid = str(uuid.uuid5(seed, content.decode()))
    request = {"uid": uid, "desiredAPIVersion": api_version, "objects": list(manifests)}
    body = orjson.dumps({"kind": KIND, "apiVersion": f"{GROUP}/{version}", "request": request})
    return uid, version, ReviewRequest(address_of(webhook["clientConfig"]), body, SECONDS)


def objects_in(reply: Reply, uid: str, version: str, count: int) -> list[Any]:
    """The objects in a reply. NoConversion, of which the message goes on after the kind."""
    if reply.error:
        raise NoConversion(f"failed: {reply.error}")
    response = _response(reply.body, uid, version)
    result = response.get("result") or {}
    if result.get("status") != "Success":
        why = result.get("message") or f"response.result.status was '{result.get('status') or ''}', not 'Success'"
        raise NoConversion(f"failed: {why}")
    found: list[Any] = response.get("convertedObjects") or []
    if len(found) != count:
        raise NoConversion(f"returned {len(found)} objects, expected {count}")
    return found


def _response(review: Any, uid: str, version: str) -> ReadOnly:
    """The response in a review, with fields of their types."""
    if not isinstance(review, dict):
        raise NoConversion(f"failed: couldn't get version/kind; json parse error: {misfit(kind_of(review), _HEAD)}")
    response = review.get("response")
    if response is not None and not isinstance(response, dict):
        raise NoConversion(f"failed: {_misfit(response, 'v1.ConversionResponse', 'ConversionReview.response')}")
    for name, type_, shown in _FIELDS:
        value = (response or {}).get(name)
        if value is not None and not isinstance(value, type_):
            raise NoConversion(f"failed: {_misfit(value, shown, f'ConversionResponse.response.{name}')}")
    api_version = str(review.get("apiVersion") or "")
    found = f"{api_version if '/' in api_version else '/' + api_version}, Kind={review.get('kind') or ''}"
    if version == "v1" and found != (desired := f"{GROUP}/v1, Kind={KIND}"):
        raise NoConversion(f"failed: expected webhook response of {desired}, got {found}")
    if response is None:
        raise NoConversion("failed: no response provided")
    if version == "v1" and (response.get("uid") or "") != uid:
        raise NoConversion(f'failed: expected response.uid="{uid}", got "{response.get("uid") or ""}"')
    return response


def _misfit(value: Any, desired: str, field: str) -> str:
    return misfit(kind_of(value), desired, field)


def checked(before: ReadOnly, after: Any, api_version: str, index: int) -> Manifest:
    """A converted object with the metadata of the original, but for labels and annotations. NoConversion."""
    if not isinstance(after, dict):
        raise NoConversion(f"failed: {misfit(kind_of(after), TYPES[dict])}")
    invalid = f"returned invalid object at index {index}: invalid"
    if after.get("apiVersion") != api_version:
        raise NoConversion(f"{invalid} groupVersion (expected {api_version}, received {after.get('apiVersion') or ''})")
    if after.get("kind") != before["kind"]:
        raise NoConversion(f"{invalid} kind (expected {before['kind']}, received {after.get('kind') or ''})")
    meta, returned = metadata(before), after.get("metadata")
    converted = returned if isinstance(returned, dict) else {}
    for name, shown in _SAME:
        if (meta.get(name) or "") != (converted.get(name) or ""):
            why = f"must have the same {shown}: {meta.get(name) or ''} != {converted.get(name) or ''}"
            raise NoConversion(f"returned invalid object: {why}")
    kept = {name: value for name, value in meta.items() if name not in ("labels", "annotations")}
    return {**after, "metadata": {**kept, **_texts(converted)}}


def _texts(returned: ReadOnly) -> Manifest:
    """The labels and annotations of a converted object."""
    found = {name: returned[name] for name in ("labels", "annotations") if returned.get(name) is not None}
    for name, values in found.items():
        if not isinstance(values, dict):
            why = f"invalid metadata.{name} of type {TYPES[type(values)]} in converted object"
            raise NoConversion(f"returned invalid metadata: {why}")
        for key, value in values.items():
            if not isinstance(value, str):
                why = f"metadata.{name}[{key}] must be a string, but is {TYPES[type(value)]} in converted object"
                raise NoConversion(f"returned invalid metadata: {why}")
    labels = (label_defects("metadata.labels", *one) for one in (found.get("labels") or {}).items())
    annotations = annotation_defects("metadata.annotation", found.get("annotations") or {})
    defects = [str(one) for one in chain(*labels, annotations)]
    if defects:
        raise NoConversion(f"returned invalid metadata: {defects[0] if len(defects) == 1 else _list(defects)}")
    return found


def _list(sentences: Sequence[str]) -> str:
    return f"[{', '.join(sentences)}]"
