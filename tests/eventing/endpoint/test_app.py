from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
from starlette.types import ASGIApp, Message

from eventing.endpoint.app import QueueUnavailable, asgi
from eventing.endpoint.gate import LARGEST_BODY
from eventing.endpoint.program import speaking_our_errors
from eventing.endpoint.senders import Senders
from eventing.events.cloudevents import to_request
from eventing.events.event import Event, change_of
from eventing.journal import RedisJournal
from eventing.metrics.exposition import Series, exposition
from eventing.wiring.endpoint import senders
from eventing.wiring.intake import sink
from eventing.workqueue import WorkQueue, connect
from shared import kinds, names
from shared.adapters.kube.token_reviews import ReviewUnavailable
from shared.config import SettingError, Settings
from shared.telemetry import Metric

AN_EVENT = Event("1", names.UPDATED, "/test", kinds.SUBSCRIPTION.ref("etcd", "olm"))


class Queue:
    """Remembers what it was given, and can be away."""

    def __init__(self, *, is_away: bool = False) -> None:
        self.events: list[Event] = []
        self.is_away = is_away
        self.drained_with: list[int] = []

    def accept(self, events: Sequence[Event]) -> None:
        if self.is_away:
            raise QueueUnavailable("Redis does not answer")
        self.events += events

    def drain(self) -> None:
        self.drained_with.append(len(self.events))


async def ask(
    app: ASGIApp, method: str = "POST", path: str = "/", *, headers: dict[str, str] | None = None, body: bytes = b""
) -> tuple[int, str, dict[str, str]]:
    """One request in, status, text and headers out."""
    raw = [(key.lower().encode(), value.encode("latin-1")) for key, value in (headers or {}).items()]
    scope: dict[str, Any] = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "", "headers": raw,
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2),
    }  # fmt: skip
    halves = [body[: len(body) // 2], body[len(body) // 2 :]]
    inbox: list[Message] = [
        {"type": "http.request", "body": half, "more_body": number == 0} for number, half in enumerate(halves)
    ]
    outbox: list[Message] = []

    async def receive() -> Message:
        return inbox.pop(0) if inbox else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        outbox.append(message)

    await app(scope, receive, send)
    text = b"".join(message.get("body", b"") for message in outbox[1:])
    return outbox[0]["status"], text.decode(), _headers(outbox[0]["headers"])


def _headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    return {key.decode(): value.decode() for key, value in raw}


@pytest.mark.parametrize("structured", [False, True], ids=["binary mode", "structured mode"])
async def test_an_event_is_queued_before_the_answer(structured: bool) -> None:
    queue = Queue()
    headers, body = to_request(AN_EVENT, structured=structured)
    status, text, answered = await ask(asgi(queue.accept), headers=headers, body=body)
    assert queue.events == [AN_EVENT]
    assert (status, text, answered) == (204, "", {}), "a broker takes any body that is no CloudEvent for a failure"


async def test_the_queue_is_drained_after_the_event_went_in() -> None:
    queue = Queue()
    headers, body = to_request(AN_EVENT)
    status, _, _ = await ask(asgi(queue.accept, drain=queue.drain), headers=headers, body=body)
    assert (status, queue.drained_with) == (204, [1])


async def test_a_drain_that_fails_does_not_make_the_sender_repeat_itself() -> None:
    def drain() -> None:
        raise ConnectionError

    queue = Queue()
    headers, body = to_request(AN_EVENT)
    status, _, _ = await ask(asgi(queue.accept, drain=drain), headers=headers, body=body)
    assert (status, len(queue.events)) == (204, 1)


async def test_while_redis_is_away_the_sender_shall_come_again() -> None:
    headers, body = to_request(AN_EVENT)
    status, text, answered = await ask(asgi(Queue(is_away=True).accept), headers=headers, body=body)
    assert (status, text, answered["retry-after"]) == (503, "the event was not queued: Redis does not answer", "1")


@pytest.mark.parametrize(
    ("headers", "body", "want"),
    [
        pytest.param(
            {"content-type": "application/cloudevents-batch+json"},
            b"[]",
            (415, "batch mode is not supported: send each event in a request of its own"),
            id="a batch",
        ),
        pytest.param(
            {**to_request(AN_EVENT)[0], "content-type": "application/json"},
            b"{",
            (400, "the body is not JSON, though its content type says so"),
            id="broken JSON",
        ),
        pytest.param(
            {**to_request(AN_EVENT)[0], "ce-namespace": ""},
            b"",
            (400, "namespace is missing: a Subscription has one"),
            id="an event without a namespace",
        ),
        pytest.param(
            to_request(AN_EVENT)[0],
            b" " * (LARGEST_BODY + 1),
            (413, f"the body has more than {LARGEST_BODY} bytes"),
            id="a body without end",
        ),
    ],
)
async def test_what_is_refused(headers: dict[str, str], body: bytes, want: tuple[int, str]) -> None:
    queue = Queue()
    status, text, _ = await ask(asgi(queue.accept), headers=headers, body=body)
    assert ((status, text), queue.events) == (want, [])


async def test_metrics_are_served_beside_events() -> None:
    app = asgi(Queue().accept, metrics=partial(exposition, {Series(Metric.olmf_redis_up): 1}))
    status, text, headers = await ask(app, "GET", "/metrics")
    assert (status, text.splitlines()[-1]) == (200, "olmf_redis_up 1.0")
    assert headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    status, text, headers = await ask(app, "GET", "/metrics", headers={"accept": "application/openmetrics-text"})
    assert (status, text.splitlines()[-1]) == (200, "# EOF")
    assert headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
async def test_health_is_mounted(path: str) -> None:
    assert (await ask(asgi(Queue().accept), "GET", path))[:2] == (200, "ok")


async def test_without_redis_it_lives_but_is_not_ready() -> None:
    app = asgi(Queue().accept, is_ready=lambda: False)
    assert (await ask(app, "GET", "/livez"))[0] == 200
    assert (await ask(app, "GET", "/readyz"))[:2] == (503, "Redis does not answer")


TOKEN = "a-token-of-ours"


def allowed(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize(
    ("headers", "want"),
    [
        pytest.param({}, 401, id="no token"),
        pytest.param(allowed("another"), 401, id="another token"),
        pytest.param(allowed(TOKEN + "x"), 401, id="a longer one"),
        pytest.param(allowed(""), 401, id="an empty one"),
        pytest.param({"Authorization": f"Basic {TOKEN}"}, 401, id="another scheme"),
        pytest.param(allowed("ä" * 10), 401, id="one that is not ASCII"),
        pytest.param(allowed("x" * 100_000), 401, id="one without end"),
        pytest.param(allowed(TOKEN), 204, id="the token"),
        pytest.param({"Authorization": f"bearer  {TOKEN}"}, 204, id="the token, in another spelling"),
        pytest.param({"ce-olmftoken": TOKEN}, 204, id="the token as an attribute, which a source of Knative adds"),
        pytest.param({"ce-olmftoken": "another"}, 401, id="another token as an attribute"),
        pytest.param({"ce-olmftoken": TOKEN, **allowed("another")}, 401, id="a header that says otherwise"),
    ],
)
async def test_who_may_send(headers: dict[str, str], want: int) -> None:
    queue = Queue()
    event, body = to_request(AN_EVENT)
    app = asgi(queue.accept, senders=Senders(token=TOKEN))
    encoded = {key: value.encode().decode("latin-1") for key, value in headers.items()}
    status, text, answered = await ask(app, headers=event | encoded, body=body)
    assert (status, len(queue.events)) == (want, int(want == 204))
    if want == 401:
        assert (text, answered["www-authenticate"]) == (
            "the sender is not known: wanted the header `Authorization: Bearer TOKEN` or the attribute `olmftoken`",
            "Bearer",
        )


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/metrics"])
async def test_what_is_read_needs_no_token(path: str) -> None:
    app = asgi(Queue().accept, senders=Senders(token=TOKEN))
    assert (await ask(app, "GET", path))[0] == 200


@pytest.mark.parametrize(
    ("content", "why"),
    [
        pytest.param(None, "cannot be read: [Errno 2] No such file or directory", id="absent"),
        pytest.param(b"\n", "has no token", id="empty"),
        pytest.param(b"\xff\xfe", "cannot be read: 'utf-8' codec", id="no text"),
        pytest.param(b"one\ntwo\n", "", id="two tokens"),
    ],
)
def test_a_file_without_a_token_ends_the_endpoint_at_the_start(content: bytes | None, why: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    values = replace(Settings(), endpoint_token_file=str(file))
    if why:
        with pytest.raises(SettingError) as refused:
            senders(values)
        assert str(refused.value).startswith(f"OLMF_ENDPOINT_TOKEN_FILE: {file} {why}")
    else:
        senders(values)
    senders(Settings())


async def test_a_token_is_replaced_while_the_endpoint_runs(tmp_path: Path) -> None:
    file = tmp_path / "token"
    app = asgi(Queue().accept, senders=Senders(token_file=str(file)))
    event, body = to_request(AN_EVENT)
    output = []
    for content in (None, "", "old\n", "old\nnew\n", "new"):
        if content is not None:
            file.write_text(content)
        output.append([(await ask(app, headers=event | allowed(token), body=body))[0] for token in ("old", "new")])
    assert output == [[401, 401], [401, 401], [204, 401], [204, 204], [401, 204]]


@pytest.mark.parametrize(
    ("known", "headers", "is_reported"),
    [
        pytest.param(Senders(), {}, False, id="nobody is known: a hint"),
        pytest.param(Senders(trusts_network=True), {}, True, id="the network lets only trusted senders through"),
        pytest.param(Senders(token=TOKEN), allowed(TOKEN), True, id="a sender with the token"),
    ],
)
async def test_which_change_an_event_is_about(known: Senders, headers: dict[str, str], is_reported: bool) -> None:
    queue = Queue()
    event, body = to_request(Event("uid.7.update", names.UPDATED, "/test", kinds.NAMESPACE.ref("team-a")))
    assert (await ask(asgi(queue.accept, senders=known), headers=event | headers, body=body))[0] == 204
    assert bool(change_of(queue.events[0].id)) == is_reported == known.knows_any


@pytest.mark.parametrize(
    ("review", "want"),
    [
        pytest.param(lambda token: token == "of-the-broker", 204, id="the account of the broker"),
        pytest.param(lambda _: False, 401, id="another account"),
    ],
)
async def test_accounts_of_the_cluster(review: Callable[[str], bool], want: int) -> None:
    app = asgi(Queue().accept, senders=Senders(review=review))
    event, body = to_request(AN_EVENT)
    assert (await ask(app, headers=event | allowed("of-the-broker"), body=body))[0] == want


async def test_while_the_owner_of_a_token_cannot_be_found_out_the_sender_shall_retry() -> None:
    def review(_: str) -> bool:
        raise ReviewUnavailable("the API server is away")

    app = asgi(Queue().accept, senders=Senders(review=review))
    event, body = to_request(AN_EVENT)
    status, _, answered = await ask(app, headers=event | allowed("any"), body=body)
    assert (status, answered["retry-after"]) == (503, "1")


@pytest.mark.parametrize(
    ("type_", "want"),
    [
        pytest.param(names.AUDIT_REQUESTED, 400, id="an audit"),
        pytest.param("io.olmf.audit.rang", 400, id="an audit, as an earlier build calls it"),
        pytest.param(names.REQUIREMENT_CHANGED, 400, id="what a step found"),
        pytest.param("io.olmf.", 400, id="any other type of ours"),
        pytest.param(names.UPDATED, 204, id="a change, as a watch source tells it"),
        pytest.param(names.WORK_READY, 204, id="a wake-up, which names no object"),
    ],
)
async def test_an_unknown_sender_sends_what_a_watch_source_sends(type_: str, want: int, redis_url: str) -> None:
    accept = sink(Settings(redis_url=redis_url))
    event, body = to_request(Event("1", type_, "/test", kinds.NAMESPACE.ref("victim")))
    status, text, _ = await ask(asgi(accept), headers=event, body=body)
    assert status == want
    if want == 400:
        assert (
            text == f"type {type_!r} is only taken of a sender that is known, by a token or an account of the cluster"
        )
    with connect(redis_url) as client:
        assert bool(WorkQueue(client, Settings()).ls()) is (type_ == names.UPDATED)
    known = asgi(Queue().accept, senders=Senders(token=TOKEN))
    assert (await ask(known, headers=event | allowed(TOKEN), body=body))[0] == 204


@pytest.mark.parametrize("kind", [kinds.SUBSCRIPTION, kinds.CATALOG_SOURCE, kinds.OPERATOR_CONDITION], ids=str)
async def test_a_flood_of_an_unknown_sender_is_bounded(kind: kinds.Kind, redis_url: str) -> None:
    """Names are made up, so each event would be a job of its own, charged to the namespace that it names."""
    app, most = asgi(speaking_our_errors(sink(Settings(redis_url=redis_url), most=5))), 5
    output = []
    for number in range(10):
        event, body = to_request(Event(str(number), names.UPDATED, "/test", kind.ref(f"made-up-{number}", "victim")))
        output.append((await ask(app, headers=event, body=body))[:2])
    event, body = to_request(Event("again", names.UPDATED, "/test", kind.ref("made-up-0", "victim")))
    assert (await ask(app, headers=event, body=body))[0] == 204, "what waits already has its room"
    event, body = to_request(Event("other", names.UPDATED, "/test", kind.ref("tide", "neighbour")))
    assert (await ask(app, headers=event, body=body))[0] == 204, "another namespace has room of its own"
    statuses = [status for status, _ in output]
    assert statuses == sorted(statuses)
    assert 1 < statuses.count(204) <= most, "each event makes a few jobs"
    assert output[-1][1] == "the event was not queued: too many jobs of its kind wait, of 5 for each namespace"


async def test_an_unknown_sender_neither_blinds_the_audit_nor_stalls_a_kind(redis_url: str) -> None:
    """One request with a made-up uid and version, about an object that exists."""
    accept = sink(Settings(redis_url=redis_url))
    ref = kinds.NAMESPACE.ref("team-a")
    meta = {"name": "team-a", "uid": "made-up", "resourceVersion": "9223372036854775807"}
    body = orjson.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
    headers, _ = to_request(Event("made-up.9223372036854775807.update", names.UPDATED, "/test", ref))
    app = asgi(accept)
    for _ in range(3):
        assert (await ask(app, headers=headers | {"content-type": "application/json"}, body=body))[0] == 204
    with connect(redis_url) as client:
        journal = RedisJournal(client)
        assert journal.unseen([(ref, "105")]) == (ref,)
        for version in range(100, 120):
            journal.record_events([Event(f"uid.{version}.update", names.UPDATED, "watch", ref)])
        assert journal.unseen([(ref, "119")]) == ()
        assert WorkQueue(client, Settings()).depth().ready, "it is a doorbell all the same"
