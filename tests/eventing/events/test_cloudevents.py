from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from cloudevents.http import from_http

from eventing.events.cloudevents import InvalidEventError, event_of, framing_defects, to_request
from eventing.events.event import Event, change_of
from shared import kinds, names

AN_EVENT = Event(
    "uid.7.update",
    names.UPDATED,
    "https://127.0.0.1:6443",
    kinds.CLUSTER_SERVICE_VERSION.ref("etcd.v1", "olm"),
    {"phase": "Pending", "copied": "false", "owners": "Subscription/etcd"},
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
)
BINARY = {
    "ce-specversion": "1.0",
    "ce-id": "4f1c9a0e-9b2e-4f57-b8a5-0d8ad0e1a4c3",
    "ce-source": "https://10.96.0.1:443",
    "content-type": "application/json",
}
"""As Knative's ApiServerSource begins."""


def received(headers: Mapping[str, str], body: bytes, *, trusted: bool = True) -> Event:
    """What the gate, the framework and the function make of a request."""
    if found := tuple(framing_defects(headers, body)):
        raise InvalidEventError(found)
    return event_of(from_http(dict(headers), body), trusted=trusted)


@pytest.mark.parametrize("structured", [False, True], ids=["binary mode", "structured mode"])
@pytest.mark.parametrize(
    "event",
    [
        pytest.param(AN_EVENT, id="an event with hints and a trace"),
        pytest.param(
            Event("1", names.DELETED, "x", kinds.NAMESPACE.ref("olm")), id="an event of a cluster-scoped object"
        ),
        pytest.param(
            Event("1", names.RESYNC_REQUESTED, "x", kinds.SUBSCRIPTION.ref("etcd", "olm")), id="an event of ours"
        ),
        pytest.param(
            Event("1", names.ADDED, "x", kinds.Ref("example.com/v1", "Widget", "w", "ns")), id="a kind nobody knows"
        ),
    ],
)
def test_an_event_survives_the_wire(event: Event, structured: bool) -> None:
    assert received(*to_request(event, structured=structured)) == event


@pytest.mark.parametrize(
    ("metadata", "want"),
    [
        pytest.param({"uid": "u1", "resourceVersion": "7"}, "u1.7.update", id="the object says which change it is"),
        pytest.param({}, BINARY["ce-id"], id="an object that does not say keeps the id of its sender"),
    ],
)
def test_a_change_has_one_id_whoever_reports_it(metadata: dict[str, str], want: str) -> None:
    headers = {
        **BINARY, "ce-type": names.UPDATED, "ce-apiversion": kinds.SUBSCRIPTION.api_version, "ce-kind": "Subscription",
        "ce-name": "etcd", "ce-namespace": "ns",
    }  # fmt: skip
    assert received(headers, json.dumps({"metadata": metadata}).encode()).id == want


def test_what_goes_out_in_binary_mode() -> None:
    headers, body = to_request(AN_EVENT)
    assert body == b""
    assert {key: value for key, value in headers.items() if key != "ce-time"} == {
        "ce-specversion": "1.0",
        "ce-id": "uid.7.update",
        "ce-type": "dev.knative.apiserver.resource.update",
        "ce-source": "https://127.0.0.1:6443",
        "ce-subject": "/apis/operators.coreos.com/v1alpha1/namespaces/olm/clusterserviceversions/etcd.v1",
        "ce-apiversion": "operators.coreos.com/v1alpha1",
        "ce-kind": "ClusterServiceVersion",
        "ce-name": "etcd.v1",
        "ce-namespace": "olm",
        "ce-traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "ce-phase": "Pending",
        "ce-copied": "false",
        "ce-owners": "Subscription/etcd",
    }


A_COPY = {
    "apiVersion": "operators.coreos.com/v1alpha1",
    "kind": "ClusterServiceVersion",
    "metadata": {"name": "etcd.v1", "namespace": "app", "labels": {"olm.copiedFrom": "olm"}},
    "spec": {},
    "status": {"phase": "Succeeded", "reason": "Copied"},
}


@pytest.mark.parametrize(
    ("headers", "body", "want"),
    [
        pytest.param(
            {
                "ce-type": "dev.knative.apiserver.resource.update",
                "ce-subject": "/apis/operators.coreos.com/v1alpha1/namespaces/app/clusterserviceversions/etcd.v1",
                "ce-apiversion": "operators.coreos.com/v1alpha1",
                "ce-kind": "ClusterServiceVersion",
                "ce-name": "etcd.v1",
                "ce-namespace": "app",
                "ce-kn-namespace": "app",
            },
            A_COPY,
            (
                kinds.CLUSTER_SERVICE_VERSION.ref("etcd.v1", "app"),
                {"phase": "Succeeded", "owners": "", "copied": "true", "limited": "false"},
            ),
            id="DESIGN 4: a resource event carries the object, from which the hints are computed",
        ),
        pytest.param(
            {
                "ce-type": "dev.knative.apiserver.ref.add",
                "ce-subject": "/apis/v1/namespaces//namespaces/zz",
                "ce-apiversion": "v1",
                "ce-kind": "Namespace",
                "ce-name": "zz",
                "ce-namespace": "",
            },
            {"kind": "Namespace", "namespace": "", "name": "zz", "apiVersion": "v1"},
            (kinds.NAMESPACE.ref("zz"), {}),
            id="DESIGN 4: an empty ce-namespace is a cluster-scoped object",
        ),
        pytest.param(
            {"ce-type": "dev.knative.apiserver.ref.delete"},
            {"kind": "ServiceAccount", "namespace": "olm", "name": "etcd", "apiVersion": "v1"},
            (kinds.SERVICE_ACCOUNT.ref("etcd", "olm"), {}),
            id="DESIGN 4: the body of a ref event says what the attributes leave out",
        ),
        pytest.param(
            {"ce-type": "dev.knative.apiserver.resource.delete"},
            {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "olm"}, "spec": {}},
            (kinds.JOB.ref("j", "olm"), {"phase": "", "owners": "", "unpack": "false"}),
            id="the object says what the attributes leave out",
        ),
    ],
)
def test_what_knative_sends(headers: dict[str, str], body: Any, want: tuple[kinds.Ref, dict[str, str]]) -> None:
    event = received({**BINARY, **headers}, json.dumps(body).encode())
    assert (event.ref, event.hints, event.type) == (*want, headers["ce-type"])


GOOD = {"ce-type": names.RESYNC_REQUESTED, "ce-apiversion": "v1", "ce-kind": "Namespace", "ce-name": "olm"}
STRUCTURED = {"content-type": "application/cloudevents+json; charset=utf-8"}


@pytest.mark.parametrize(
    ("headers", "body", "want"),
    [
        pytest.param(
            {"content-type": "application/cloudevents-batch+json"},
            b"[]",
            ("batch mode is not supported: send each event in a request of its own",),
            id="a batch",
        ),
        pytest.param(
            {"content-type": "text/html"},
            b"<p>",
            (
                (
                    "the request is no CloudEvent: it has neither ce-… headers (binary mode) nor the content type "
                    "application/cloudevents+json (structured mode), but text/html"
                ),
            ),
            id="a form of somebody else",
        ),
        pytest.param(
            STRUCTURED,
            b'{"id": ',
            ("the body is not JSON: structured mode wants the whole event as one JSON object",),
            id="structured mode with broken JSON",
        ),
        pytest.param(
            STRUCTURED,
            b"[1]",
            ("the body is a list: structured mode wants the whole event as one JSON object",),
            id="structured mode with a list",
        ),
        pytest.param(
            STRUCTURED,
            b'{"specversion": "2.0", "id": 7, "type": ""}',
            (
                "specversion is '2.0': wanted '1.0'",
                "id is a number: wanted a string",
                "source is missing",
                "type is missing",
            ),
            id="structured mode with every attribute wrong says so at once",
        ),
        pytest.param(
            {**BINARY, **GOOD},
            b'{"kind": ',
            ("the body is not JSON, though its content type says so",),
            id="binary mode with broken JSON does not arrive as a string",
        ),
        pytest.param(
            {**BINARY, **GOOD, "ce-type": names.ADDED},
            b'"text"',
            ("data is a string: wanted the object, or a reference to it, as a JSON object",),
            id="a change whose data is text",
        ),
        pytest.param(
            {**BINARY, "ce-type": "com.example.order", "ce-copied": "perhaps"},
            b"",
            (
                (
                    "type 'com.example.order' is none that we know: wanted dev.knative.apiserver.resource. or "
                    "dev.knative.apiserver.ref. with add, update, delete, or io.olmf.…"
                ),
                "apiversion is missing: the event must say which object it is about",
                "kind is missing: the event must say which object it is about",
                "name is missing: the event must say which object it is about",
                "copied is 'perhaps': wanted true or false",
            ),
            id="an event of somebody else says everything that is wrong",
        ),
        pytest.param(
            {**BINARY, **GOOD, "ce-kind": "Secret"},
            b"",
            ("namespace is missing: a Secret has one",),
            id="a namespaced object without a namespace",
        ),
        pytest.param(
            {**BINARY, **GOOD, "ce-kind": "Secret", "ce-namespace": "a/b", "ce-name": "../x"},
            b"",
            ("'../x' is no name of a Secret: wanted lower case letters, digits, '-' and '.', at most 253",),
            id="names that no object has",
        ),
        pytest.param(
            {**BINARY, **GOOD, "ce-type": names.ADDED},
            b'{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}}',
            ("name is 'olm', but the body is about 'other'",),
            id="attributes and body about different objects",
        ),
    ],
)
def test_what_is_no_event(headers: dict[str, str], body: bytes, want: tuple[str, ...]) -> None:
    with pytest.raises(InvalidEventError) as caught:
        received(headers, body)
    assert caught.value.defects == want


POISON = {"uid": "u1", "resourceVersion": "9223372036854775807"}


@pytest.mark.parametrize("identity", ["4f1c9a0e", "u1.9223372036854775807.update", "u1.7.delete"])
def test_a_change_is_believed_of_trusted_senders_only(identity: str) -> None:
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a", **POISON}}
    headers = {**BINARY, "ce-id": identity, "ce-type": names.UPDATED}
    event = received(headers, json.dumps(body).encode(), trusted=False)
    assert (event.ref, event.type, change_of(event.id)) == (kinds.NAMESPACE.ref("team-a"), names.UPDATED, None)
    assert received(headers, json.dumps(body).encode()).id == "u1.9223372036854775807.update"


def test_the_id_of_an_unknown_sender_is_the_same_at_each_delivery() -> None:
    reference = {"apiVersion": "v1", "kind": "Namespace", "name": "team-a"}
    ids = {
        received(
            {**BINARY, "ce-id": identity, "ce-type": "dev.knative.apiserver.ref.update"},
            json.dumps(reference).encode(),
            trusted=False,
        ).id
        for identity in ("u1.7.update", "u1.7.update", "u1.8.update")
    }
    assert len(ids) == 2
