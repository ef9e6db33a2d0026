"""Conversion webhooks: what they are asked, and what becomes of their answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.conformance.api.objects import DEFINITIONS, end_conversions
from tests.conformance.http import Answer, Api
from tests.kit.waiting import wait_for
from tests.kit.webhook_server import Handler, WebhookServer, running_webhooks

Json = Any


@pytest.fixture(autouse=True)
def no_conversion_stays(http: Api, word: str) -> Iterator[None]:
    """Nor what it would keep from going: a namespace is not deleted while one kind cannot be listed."""
    yield
    end_conversions(http, word)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebhookServer]:
    with running_webhooks(tmp_path_factory.mktemp("hooks") / "pki") as running:
        yield running


def converted(*changes: Callable[[Json], Json]) -> Handler:
    """Convert by the name of the version alone, and make these changes to each object."""

    def answer(request: Json) -> Json:
        found = [{**one, "apiVersion": request["desiredAPIVersion"]} for one in request["objects"]]
        for change in changes:
            found = [change(one) for one in found]
        return {"result": {"status": "Success"}, "convertedObjects": found}

    return answer


def in_metadata(**fields: Json) -> Callable[[Json], Json]:
    return lambda one: {**one, "metadata": {**one["metadata"], **fields}}


@dataclass(frozen=True)
class Lamps:
    """A kind of the test's own in two versions, of which v1 is stored."""

    http: Api
    server: WebhookServer
    namespace: str
    group: str

    def path(self, version: str, name: str = "") -> str:
        return f"/apis/{self.group}/{version}/namespaces/{self.namespace}/lamps" + (f"/{name}" if name else "")

    def create(self, name: str, version: str = "v1", **meta: Json) -> Answer:
        manifest = {"apiVersion": f"{self.group}/{version}", "kind": "Lamp", "metadata": {"name": name, **meta}}
        return self.http.post(self.path(version), {**manifest, "spec": {"lumens": 1}})

    def answers(self, handler: Handler) -> None:
        self.server.handlers[f"/{self.group}"] = handler

    def asked(self) -> list[Json]:
        return self.server.requests(f"/{self.group}")


def a_version(name: str, *, storage: bool) -> Json:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {"name": name, "served": True, "storage": storage, "schema": schema}


@pytest.fixture
def lamps(http: Api, server: WebhookServer, namespace: str, word: str) -> Lamps:
    group = f"{word}.example.com"
    return define(Lamps(http, server, namespace, group), server.client(f"/{group}"))


def define(lamps: Lamps, client: Json) -> Lamps:
    """Returns when both versions are served."""
    lamps.answers(converted())
    spec = {
        "group": lamps.group, "scope": "Namespaced", "names": {"plural": "lamps", "kind": "Lamp"},
        "versions": [a_version("v1", storage=True), a_version("v2", storage=False)],
        "conversion": {
            "strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": client},
        },
    }  # fmt: skip
    made = lamps.http.post(DEFINITIONS, {"metadata": {"name": f"lamps.{lamps.group}"}, "spec": spec})
    assert made.status == 201, made.body
    wait_for(lambda: {lamps.http.get(lamps.path(version)).status for version in ("v1", "v2")} == {200}, "both served")
    return lamps


def changed(**fields: Json) -> Handler:
    """A conversion with other fields of its response."""
    return lambda request: {**converted()(request), **fields}


LAMP = {"apiVersion": "a/v1", "kind": "Lamp"}


SENT, DESIRED = "{group}/v1, Kind=Lamp", "{group}/v2"
FAILURES = [
    pytest.param(lambda _: 500, "failed: an error on the server (", id="an error"),
    pytest.param(lambda _: 404, "failed: the server could not find the requested resource", id="not found"),
    pytest.param(lambda _: b"no json", "failed: couldn't get version/kind; json parse error: ", id="no JSON"),
    pytest.param(lambda _: b"3", "failed: couldn't get version/kind; json parse error: json: cannot ", id="a number"),
    pytest.param(
        lambda _: b"{}", "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, "
        "Kind=", id="no review",
    ),
    pytest.param(changed(uid="x"), 'failed: expected response.uid="', id="another uid"),
    pytest.param(changed(result={"status": "Failed", "message": "no"}), "failed: no", id="a failure"),
    pytest.param(
        changed(result={"status": "Failed"}), "failed: response.result.status was 'Failed', not 'Success'",
        id="a failure without a message",
    ),
    pytest.param(changed(result={}), "failed: response.result.status was '', not 'Success'", id="no result"),
    pytest.param(changed(result="x"), "failed: json: cannot unmarshal string into Go ", id="a result that is a text"),
    pytest.param(changed(convertedObjects=None), "returned 0 objects, expected 1", id="no objects"),
    pytest.param(changed(convertedObjects=[LAMP, LAMP]), "returned 2 objects, expected 1", id="too many objects"),
    pytest.param(changed(convertedObjects={}), "failed: json: cannot unmarshal object into Go ", id="no list"),
    pytest.param(
        converted(lambda one: {**one, "apiVersion": "a/v3"}),
        f"returned invalid object at index 0: invalid groupVersion (expected {DESIRED}, received a/v3)",
        id="another version",
    ),
    pytest.param(
        converted(lambda one: {**one, "kind": "Candle"}),
        "returned invalid object at index 0: invalid kind (expected Lamp, received Candle)", id="another kind",
    ),
    pytest.param(
        converted(lambda one: {**one, "metadata": None}), "returned invalid object: must have the same name: a != ",
        id="no metadata",
    ),
    pytest.param(
        converted(in_metadata(name="b")), "returned invalid object: must have the same name: a != b", id="another name"
    ),
    pytest.param(
        converted(in_metadata(namespace="b")), "returned invalid object: must have the same namespace: ",
        id="another namespace",
    ),
    pytest.param(
        converted(in_metadata(uid="b")), "returned invalid object: must have the same UID: ", id="another identity"
    ),
    pytest.param(
        converted(in_metadata(labels={"a": 1})),
        "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object",
        id="a label that is no text",
    ),
    pytest.param(
        converted(in_metadata(annotations=["a"])),
        "returned invalid metadata: invalid metadata.annotations of type []interface {} in converted object",
        id="annotations that are no map",
    ),
    pytest.param(
        converted(in_metadata(labels={"a b": "c"})),
        'returned invalid metadata: metadata.labels: Invalid value: "a b": name part must consist of ',
        id="no name of a label",
    ),
    pytest.param(
        converted(in_metadata(annotations={"a b": "c"})),
        'returned invalid metadata: metadata.annotation: Invalid value: "a b": name part must consist of ',
        id="no name of an annotation",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("handler", "reported"), FAILURES)
def test_a_failed_conversion_is_an_error(lamps: Lamps, handler: Handler, reported: str) -> None:
    assert lamps.create("a").status == 201
    lamps.answers(handler)
    answer = lamps.http.get(lamps.path("v2", "a"))
    assert (answer.status, answer.body.get("reason", "")) == (500, "")
    assert answer.body["message"].startswith(
        f"conversion webhook for {SENT} {reported}".replace("{group}", lamps.group)
    )


def test_an_object_that_cannot_be_converted_is_not_written(lamps: Lamps) -> None:
    lamps.answers(changed(result={"status": "Failed", "message": "no"}))
    answer = lamps.create("a", "v2")
    reported = f"conversion webhook for {lamps.group}/v2, Kind=Lamp failed: no"
    assert (answer.status, answer.body["message"]) == (500, reported)
    assert lamps.http.get(lamps.path("v1", "a")).status == 404


def test_the_stored_version_needs_no_conversion(lamps: Lamps) -> None:
    lamps.answers(lambda _: 500)
    assert lamps.create("a").status == 201
    assert lamps.http.get(lamps.path("v1", "a")).status == 200
    assert [one["metadata"]["name"] for one in lamps.http.get(lamps.path("v1")).body["items"]] == ["a"]
    assert lamps.http.patch(lamps.path("v1", "a"), {"spec": {"lumens": 2}}).status == 200
    assert lamps.http.delete(lamps.path("v1", "a")).status == 200


def test_a_conversion_is_asked_for_the_wanted_version(lamps: Lamps) -> None:
    lamps.create("a", labels={"b": "c"})
    assert lamps.http.get(lamps.path("v2", "a")).body["apiVersion"] == f"{lamps.group}/v2"
    request = lamps.asked()[-1]
    [arguments] = request["objects"]
    assert (request["desiredAPIVersion"], arguments["apiVersion"]) == (f"{lamps.group}/v2", f"{lamps.group}/v1")
    assert (arguments["kind"], arguments["metadata"]["labels"], arguments["spec"]) == (
        "Lamp",
        {"b": "c"},
        {"lumens": 1},
    )


def test_a_conversion_may_change_labels_and_annotations_alone(lamps: Lamps) -> None:
    before = lamps.create("a", annotations={"old": "1"}).body["metadata"]
    lamps.answers(converted(lambda one: {**one, "metadata": {
        **one["metadata"], "labels": {"new": "2"}, "annotations": None, "finalizers": ["a.example.com/b"],
        "resourceVersion": "1", "generation": 7, "ownerReferences": [],
    }}))  # fmt: skip
    after = lamps.http.get(lamps.path("v2", "a")).body["metadata"]
    kept = {name: value for name, value in before.items() if name != "annotations"}
    assert after == {**kept, "labels": {"new": "2"}}


def test_a_list_has_every_object_in_the_wanted_version(lamps: Lamps) -> None:
    for name, version in (("a", "v1"), ("b", "v2")):
        assert lamps.create(name, version).status == 201
    items = lamps.http.get(lamps.path("v2")).body["items"]
    assert [(one["metadata"]["name"], one["apiVersion"]) for one in items] == [
        ("a", f"{lamps.group}/v2"), ("b", f"{lamps.group}/v2"),
    ]  # fmt: skip


def test_a_conversion_webhook_that_is_not_there_is_an_error(
    http: Api, server: WebhookServer, namespace: str, word: str
) -> None:
    client = {"service": {"name": "absent", "namespace": namespace, "path": "/convert"}}
    lamps = define(Lamps(http, server, namespace, f"{word}.example.com"), client)
    assert lamps.create("a").status == 201
    url = f"https://absent.{namespace}.svc:443/convert?timeout=30s"
    reported = f'conversion webhook for {lamps.group}/v1, Kind=Lamp failed: Post "{url}": service "absent" not found'
    assert lamps.http.get(lamps.path("v2", "a")).body["message"] == reported
