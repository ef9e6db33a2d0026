"""What spans a run leaves, in which trace, and what they never hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count

import pytest

from eventing.events.event import Event, change_id
from eventing.events.keys import itself
from eventing.events.predicates import always
from eventing.events.trace import begun_by
from eventing.routes import Route, by_subject
from eventing.runner import Runner, Steps
from eventing.tracing.noted_events import noting
from eventing.tracing.requests import TracedApi
from eventing.tracing.spans import Span, SpanId
from eventing.tracing.traced_runs import TracedRuns
from eventing.wiring.intake import sink
from eventing.workqueue import Claim, connect
from eventing.workqueue.run_result import RunResult
from eventing.workqueue.trace_notes import TraceNotes
from shared import names
from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest
from shared.config import Settings
from shared.kinds import CONFIG_MAP, DEPLOYMENT, SECRET, SUBSCRIPTION, Ref
from shared.ports import Cluster
from tests.eventing.effects.fake_api import FakeApi
from tests.kit.cluster import FixedClock

ONE = CONFIG_MAP.ref("one", "olm")
EVENT = change_id("uid-1", "7", "add")
SENT_CONTEXT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
ROUTES = (Route(names.GROUP_CHANGED, "demo/do_nothing", itself, always),)


@dataclass
class Sent:
    """Implements `Sender`."""

    spans: list[Span] = field(default_factory=list)
    is_on: bool = True

    def is_sampled(self, traceparent: str) -> bool:
        return self.is_on

    def send(self, spans: Iterable[Span]) -> None:
        self.spans += spans


@pytest.fixture
def notes(redis_url: str) -> Iterator[TraceNotes]:
    with connect(redis_url) as client:
        yield TraceNotes(client)


def a_map(name: str = "one") -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "olm"}}


def a_claim(step: str, ref: Ref = ONE, *, causes: tuple[str, ...] = (EVENT,), trace: str = "") -> Claim:
    return Claim(f"demo/{step}", ref, "demo", "direct", 1, causes=causes, trace=trace, attempt=2, waited_ms=3)


def traced(notes: TraceNotes, sent: Sent, claim: Claim, api: FakeApi) -> RunResult:
    """The result of a run whose spans are noted."""
    runs = TracedRuns(sent, notes, now=lambda: next(clock))
    clock = count(1_000_000, 1000)
    steps = Steps("tests.eventing.runner.tiny")
    runner = Runner({Cluster: api}, runs.api(api), FixedClock(), routes=by_subject(ROUTES), steps=steps)
    return runs.run(claim, lambda each: runner.run(each, lambda *_: True))


def test_a_run_and_its_writes_are_spans_of_the_trace_that_caused_it(notes: TraceNotes) -> None:
    sent = Sent()
    result = traced(notes, sent, a_claim("mark_map", trace=SENT_CONTEXT), FakeApi([a_map()]))
    run, write = sent.spans
    assert (run.name, run.kind, run.parent) == ("demo/mark_map", "consumer", SpanId.of(SENT_CONTEXT))
    assert run.id == SpanId.of(result.trace)
    assert run.attributes == {
        "olmf.run": result.run_id, "olmf.step": "demo/mark_map", "olmf.ref": str(ONE), "k8s.namespace.name": "olm",
        "olmf.attempt": 2, "olmf.waited_ms": 3, "olmf.outcome": "done", "olmf.causes": (EVENT,),
    }  # fmt: skip
    assert (write.name, write.kind, write.parent) == ("merge ConfigMap", "client", run.id)
    assert write.attributes == {
        "http.request.method": "PATCH", "olmf.ref": str(ONE), "k8s.namespace.name": "olm"
    }  # fmt: skip
    assert run.began < write.began < write.ended < run.ended
    assert result.exemplar == run.id.trace


def test_what_emits_and_writes_carries_the_context_on(notes: TraceNotes) -> None:
    """Also before the run has ended: another worker may have the event of its write already."""
    sent, api = Sent(), FakeApi([a_map()])
    result = traced(notes, sent, a_claim("mark_map"), api)
    written = change_id("uid-101", "102", "update")
    assert written in result.own_events
    with_context = notes._client.get(f"olmf:trace:{written}")
    assert with_context == result.trace.encode()


def test_the_first_run_of_an_event_sends_the_span_of_the_event(notes: TraceNotes) -> None:
    noting(notes, lambda: 500_000)(Event(EVENT, names.ADDED, "/api", SUBSCRIPTION.ref("tide", "one")))
    first, second = Sent(), Sent()
    for sent in (first, second):
        traced(notes, sent, a_claim("do_nothing"), FakeApi())
    event, run = first.spans
    assert (event.name, event.kind, event.parent, event.id) == (
        "add Subscription", "producer", None, SpanId.of(begun_by(EVENT)),
    )  # fmt: skip
    assert (event.began, event.ended) == (500_000, run.began)
    assert event.attributes["cloudevents.event_id"] == EVENT
    [another] = second.spans
    assert run.parent == another.parent == event.id


def test_a_run_whose_event_nobody_noted_begins_the_trace_itself(notes: TraceNotes) -> None:
    sent = Sent()
    traced(notes, sent, a_claim("do_nothing", causes=("audit-1",)), FakeApi())
    [run] = sent.spans
    assert run.parent is None
    assert run.id.trace == SpanId.of(begun_by("audit-1")).trace


@pytest.mark.parametrize("trace", ["nonsense", "00-a-b-c-d"])
def test_a_context_that_is_none_begins_a_trace(notes: TraceNotes, trace: str) -> None:
    sent = Sent()
    traced(notes, sent, a_claim("do_nothing", trace=trace), FakeApi())
    assert [span.parent for span in sent.spans] == [None]


def test_what_others_do_to_an_object_that_a_run_made_continues_its_trace(notes: TraceNotes) -> None:
    """A kubelet ends a Job, a controller makes a Deployment available; an edit of what we only touched does not."""
    sent, api = Sent(), FakeApi([a_map()])
    made = traced(notes, sent, a_claim("make_many", trace=SENT_CONTEXT), api)
    traced(notes, sent, a_claim("mark_map", trace=SENT_CONTEXT), api)
    sent.spans.clear()
    uid = str(api.objects[CONFIG_MAP.ref("map-1", "olm")]["metadata"]["uid"])
    touched = str(api.objects[ONE]["metadata"]["uid"])
    for changed in (uid, touched):
        traced(notes, sent, a_claim("do_nothing", causes=(change_id(changed, "999", "update"),)), FakeApi())
    assert [span.parent for span in sent.spans] == [SpanId.of(made.trace), None]


def test_a_refusal_is_a_code_and_no_text(notes: TraceNotes) -> None:
    api = FakeApi([a_map()])
    api.refuse("merge", "one", ApiError(403, "Forbidden", "the password is hunter2"))
    sent = Sent()
    traced(notes, sent, a_claim("mark_map"), api)
    run, write = sent.spans
    assert (run.has_failed, run.attributes["error.type"], run.attributes["olmf.outcome"]) == (
        True,
        "forbidden",
        "retry",
    )
    assert (write.has_failed, write.attributes["error.type"], write.attributes["http.response.status_code"]) == (
        True, "Forbidden", 403,
    )  # fmt: skip
    assert "hunter2" not in repr(sent.spans)


def test_of_a_secret_only_its_name_is_noted() -> None:
    meta = {"name": "key", "namespace": "olm"}
    secret: Manifest = {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": {"a": "aHVudGVyMg=="}}
    api = TracedApi(FakeApi())
    api.create(secret)
    assert [request.ref for request in api.requests] == [SECRET.ref("key", "olm")]
    assert "aHVudGVyMg==" not in repr(api.requests)


def test_a_run_within_a_run_has_its_own_requests(notes: TraceNotes) -> None:
    """A long run reports its progress by a run of another step."""
    sent, api = Sent(), FakeApi([a_map()])
    runs = TracedRuns(sent, notes)
    runner = Runner(
        {Cluster: api},
        runs.api(api),
        FixedClock(),
        routes=by_subject(ROUTES),
        steps=Steps("tests.eventing.runner.tiny"),
    )

    def run(claim: Claim) -> RunResult:
        if claim.step == "demo/make_many":
            runs.run(replace(claim, step="demo/mark_map"), run)
        return runner.run(claim, lambda *_: True)

    runs.run(a_claim("make_many"), run)
    runs_, requests = [], dict[str, int]()
    for span in sent.spans:
        if span.kind == "consumer":
            runs_.append(span)
        elif span.parent:
            requests[span.parent.span] = requests.get(span.parent.span, 0) + 1
    assert [(span.name, requests[span.id.span]) for span in runs_] == [("demo/mark_map", 1), ("demo/make_many", 50)]


def test_nothing_is_sent_of_a_trace_that_is_not_sampled(notes: TraceNotes) -> None:
    sent = Sent(is_on=False)
    result = traced(notes, sent, a_claim("mark_map"), FakeApi([a_map()]))
    assert (sent.spans, result.exemplar) == ([], "")


def test_without_redis_a_run_goes_on() -> None:
    sent = Sent()
    with connect("unix:///nowhere.sock") as client:
        result = traced(TraceNotes(client), sent, a_claim("mark_map"), FakeApi([a_map()]))
    assert (result.failure, [span.name for span in sent.spans]) == ("", ["demo/mark_map", "merge ConfigMap"])


def test_a_program_notes_only_events_that_wake_something_and_may_begin_a_trace(redis_url: str) -> None:
    woken = Event("uid.1.add", names.ADDED, "/api", SUBSCRIPTION.ref("tide", "one"), traceparent=begun_by("uid.1.add"))
    elsewhere = replace(woken, id="uid.2.add", traceparent=SENT_CONTEXT)
    for_nobody = Event("uid.3.add", "io.olmf.nothing.happened", "/api", DEPLOYMENT.ref("tide", "one"))
    with connect(redis_url) as client:
        for settings in (Settings(redis_url=redis_url), Settings(redis_url=redis_url, traces=True)):
            assert client.keys("olmf:began:*") == []
            sink(settings)([woken, elsewhere, for_nobody])
        assert client.keys("olmf:began:*") == [b"olmf:began:uid.1.add"]
        assert 0 < client.ttl("olmf:began:uid.1.add") <= 300
