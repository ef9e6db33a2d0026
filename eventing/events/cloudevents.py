"""Converts our events to CloudEvents over HTTP and back; the only module that imports the `cloudevents` library."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson
from cloudevents.conversion import to_binary, to_structured
from cloudevents.http import CloudEvent

from eventing.events import event as events
from eventing.events.event import Event, change_id, change_of
from eventing.events.former import type_now
from eventing.events.hints import hints
from shared import names
from shared.api.manifest import ReadOnly, resource_version_of, uid_of
from shared.domain.shape import Shape, check
from shared.kinds import BY_IDENTITY, InvalidName, Kind, Ref

HINTS = (
    events.PHASE, events.OWNERS, events.COPIED, events.UNPACK, events.COMPONENTS, events.LIMITED, events.AUTOMATIC,
)  # fmt: skip
VERBS = ("add", "update", "delete")
OURS = "io.olmf."
LONGEST_ID = 300
_WORD = re.compile("[-A-Za-z0-9_:]{1,128}")
"""A uid or resourceVersion that can be a part of an id."""
_REQUIRED = ("id", "source", "type")
_IDENTITY = {"apiversion": "api_version", "kind": "kind", "name": "name"}


class InvalidEventError(ValueError):
    """A request that is not a valid event, with one sentence for each defect."""

    def __init__(self, defects: tuple[str, ...]) -> None:
        super().__init__("; ".join(defects))
        self.defects = defects


def to_request(event: Event, *, structured: bool = False) -> tuple[dict[str, str], bytes]:
    """Headers and body of a POST, in binary mode unless `structured`.

    CloudEvents has no empty attributes, so an empty hint is left out; the event then matches more routes.
    """
    attributes = {
        "id": event.id,
        "source": event.source,
        "type": event.type,
        "subject": _subject(event.ref),
        "apiversion": event.ref.api_version,
        "kind": event.ref.kind,
        "name": event.ref.name,
        "namespace": event.ref.namespace,
        "traceparent": event.traceparent,
        **event.hints,
    }
    cloud = CloudEvent({key: value for key, value in attributes.items() if value})
    headers, body = to_structured(cloud) if structured else to_binary(cloud)
    return dict(headers), bytes(body or b"")


def framing_defects(headers: Mapping[str, str], body: bytes) -> Iterator[str]:
    """Why a request is not a CloudEvent of either mode: one sentence for each defect."""
    lower = {key.lower(): value for key, value in headers.items()}
    media = lower.get("content-type", "").partition(";")[0].strip().lower()
    if media.startswith("application/cloudevents-batch"):
        yield "batch mode is not supported: send each event in a request of its own"
        return
    if media.startswith("application/cloudevents"):
        yield from _structured_defects(body)
        return
    attributes = {key.removeprefix("ce-"): value for key, value in lower.items() if key.startswith("ce-")}
    if not attributes:
        yield (
            f"the request is no CloudEvent: it has neither ce-… headers (binary mode) nor the content type "
            f"application/cloudevents+json (structured mode), but {media or 'no content type'}"
        )
        return
    yield from _attribute_defects(attributes)
    if body and (not media or media.endswith(("/json", "+json"))) and _decoded(body) is _NO_JSON:
        yield "the body is not JSON, though its content type says so"


def event_of(cloud: CloudEvent, *, trusted: bool) -> Event:
    """The event that a CloudEvent describes. InvalidEventError names every defect.

    Only of a trusted sender its id, and uid and resourceVersion in its body, name the change: a change that
    was reported is neither audited nor read again. An event of anybody else only says where to look, and is one that a
    watch source sends: our own types start audits and name what a step found.
    """
    attributes = {key: value for key, value in cloud.get_attributes().items() if isinstance(value, str)}
    data = cloud.get_data()
    body: ReadOnly = data if isinstance(data, dict) else {}
    ref, defects = _ref(attributes, body)
    kind = attributes["type"]
    defects = [*_type_defects(kind, data), *_sender_defects(kind, trusted), *defects, *_hint_defects(attributes)]
    if ref is None or defects:
        raise InvalidEventError(tuple(defects))
    hints = {key: attributes[key] for key in HINTS if key in attributes}
    identity = attributes["id"]
    if body and attributes["type"].startswith(names.RESOURCE_EVENT):
        hints |= _hints({**body, "apiVersion": ref.api_version, "kind": ref.kind})
        identity = _identity(body, attributes["type"].rpartition(".")[2]) or identity
    if not trusted and change_of(identity):
        identity = f"untrusted-{hashlib.blake2b(identity.encode('utf-8', 'replace'), digest_size=16).hexdigest()}"
    identity = identity[:LONGEST_ID]
    trace = attributes.get("traceparent", "")
    return Event(identity, type_now(attributes["type"]), attributes["source"], ref, hints, trace)


def _identity(body: ReadOnly, verb: str) -> str:
    """The id that our watcher gives this change, because the ids of the sender (Knative) are random."""
    uid, version = uid_of(body), resource_version_of(body)
    return change_id(uid, version, verb) if _WORD.fullmatch(uid) and _WORD.fullmatch(version) else ""


_OBJECT: Final[Shape] = {
    "metadata": {"labels": dict, "annotations": dict, "ownerReferences": [dict]},
    "spec": dict,
    "status": dict,
}
"""What makes an object of Kubernetes of a JSON object, as far as hints are made of it."""


def _hints(body: ReadOnly) -> Mapping[str, str]:
    try:
        check(body, _OBJECT)
        return hints(body)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise InvalidEventError((f"data is no object of Kubernetes: {error}",)) from error


_NO_JSON = object()


def _decoded(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except ValueError:
        return _NO_JSON


def _structured_defects(body: bytes) -> Iterator[str]:
    event = _decoded(body)
    if event is _NO_JSON:
        yield "the body is not JSON: structured mode wants the whole event as one JSON object"
    elif not isinstance(event, dict):
        yield f"the body is {_named(event)}: structured mode wants the whole event as one JSON object"
    else:
        yield from _attribute_defects(event)


def _attribute_defects(attributes: Mapping[str, Any]) -> Iterator[str]:
    version = attributes.get("specversion")
    if version != "1.0":
        yield f"specversion is {version!r}: wanted '1.0'" if version else "specversion is missing: wanted '1.0'"
    for name in _REQUIRED:
        value = attributes.get(name)
        if value is None or value == "":
            yield f"{name} is missing"
        elif not isinstance(value, str):
            yield f"{name} is {_named(value)}: wanted a string"


def _type_defects(kind: str, data: object) -> Iterator[str]:
    verb = kind.removeprefix(names.RESOURCE_EVENT).removeprefix(names.REF_EVENT)
    is_change = verb != kind
    if not kind.startswith(OURS) and not (is_change and verb in VERBS):
        yield (
            f"type {kind!r} is none that we know: wanted {names.RESOURCE_EVENT} or {names.REF_EVENT} with "
            f"{', '.join(VERBS)}, or {OURS}…"
        )
    if is_change and data is not None and not isinstance(data, dict):
        yield f"data is {_named(data)}: wanted the object, or a reference to it, as a JSON object"


def _sender_defects(kind: str, trusted: bool) -> Iterator[str]:
    if not trusted and kind.startswith(OURS) and kind != names.WORK_READY:  # which tells of no object
        yield f"type {kind!r} is only taken of a sender that is known, by a token or an account of the cluster"


def _ref(attributes: Mapping[str, str], body: ReadOnly) -> tuple[Ref | None, list[str]]:
    """The object that an event is about: from its attributes, else from its body (a whole object, or a reference)."""
    inside = _identity_in(body)
    defects: list[str] = []
    found: dict[str, str] = {}
    for attribute, field in _IDENTITY.items():
        in_attributes, in_body = attributes.get(attribute, ""), inside[field]
        if in_attributes and in_body and in_attributes != in_body:
            defects.append(f"{attribute} is {in_attributes!r}, but the body is about {in_body!r}")
        if not in_attributes and not in_body:
            defects.append(f"{attribute} is missing: the event must say which object it is about")
        found[field] = in_attributes or in_body
    known = BY_IDENTITY.get((found["api_version"], found["kind"]))
    namespace = attributes.get("namespace", "") or inside["namespace"]
    if known and not known.is_namespaced:
        namespace = ""
    elif known and not namespace:
        defects.append(f"namespace is missing: a {known.kind} has one")
    if defects:
        return None, defects
    try:
        return Ref(**found, namespace=namespace), []
    except InvalidName as error:
        return None, [str(error)]


def _identity_in(body: ReadOnly) -> Mapping[str, str]:
    """The identity in a whole object, or in a reference to one."""
    place = body.get("metadata", body)
    values = {"api_version": body.get("apiVersion"), "kind": body.get("kind")}
    values |= {key: place.get(key) if isinstance(place, dict) else None for key in ("name", "namespace")}
    return {key: value if isinstance(value, str) else "" for key, value in values.items()}


def _hint_defects(attributes: Mapping[str, str]) -> Iterator[str]:
    for name in (events.COPIED, events.UNPACK):
        if attributes.get(name, "true") not in ("true", "false"):
            yield f"{name} is {attributes[name]!r}: wanted true or false"


def _subject(ref: Ref) -> str:
    """The `subject` as Knative writes it: `/apis/v1/…` also for the core group."""
    kind: Kind | None = BY_IDENTITY.get((ref.api_version, ref.kind))
    if kind is None:
        return ""
    place = f"namespaces/{ref.namespace}/" if ref.namespace else ""
    return f"/apis/{ref.api_version}/{place}{kind.plural}/{ref.name}"


def _named(value: object) -> str:
    """The type of a JSON value, for messages."""
    match value:
        case bool():
            return "a boolean"
        case str() | bytes():
            return "a string"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case None:
            return "null"
    return "an object"
