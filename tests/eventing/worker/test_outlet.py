"""News reaches a sink at least once, however ill the sink is, and holds up nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from eventing.events.event import Event
from eventing.events.job import SINK, Job
from eventing.local.redis_server import RedisServer
from eventing.routes import NOTIFICATIONS, ROUTES, TO_SINK, by_subject, jobs_for
from eventing.worker.drainer import Drainer
from eventing.worker.outlet import event_of, post, serve
from eventing.workqueue import Claim, WorkQueue, connect
from eventing.workqueue.run_result import RunResult
from shared import names
from shared.config import Settings
from shared.kinds import INSTALL_PLAN, Ref
from tests.kit.installation import SAMPLES, Installation, a_namespace, a_subscription, an_operator_group, olmf
from tests.kit.waiting import PATIENCE_SECONDS, wait_for

PLAN = INSTALL_PLAN.ref("install-1", "ns")
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
STEP = f"{SINK}/{names.PLAN_WAITING}"


def notifications(run: str = "run-7", plan: Ref = PLAN) -> tuple[Job, ...]:
    return jobs_for(Event(f"{run}.0", names.PLAN_WAITING, "olmf", plan), by_subject((*ROUTES, *TO_SINK)))


@dataclass
class Sink:
    """Answers with the statuses that it was given, in order, and then takes everything."""

    answers: list[int] = field(default_factory=list)
    asked: list[dict[str, str]] = field(default_factory=list)
    """The headers of each request."""
    url: str = ""

    def taken(self, type_: str = "") -> list[dict[str, str]]:
        return [output for output in self.asked if output["answer"] == "202" and type_ in ("", output["ce-type"])]


@contextmanager
def a_sink(*answers: int) -> Iterator[Sink]:
    sink = Sink(list(answers))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status = sink.answers.pop(0) if sink.answers else 202
            self.rfile.read(int(self.headers.get("content-length") or 0))
            # Kept before it answers: whoever has the answer finds it kept.
            sink.asked.append({**{key.lower(): value for key, value in self.headers.items()}, "answer": str(status)})
            self.send_response(status)
            self.send_header("Content-Length", "4")
            self.end_headers()
            self.wfile.write(b"said")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        sink.url = f"http://127.0.0.1:{server.server_address[1]}/"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield sink
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def queue(redis_url: str) -> Iterator[WorkQueue]:
    with connect(redis_url) as client:
        yield WorkQueue(client, Settings(), is_renewing=True)


def drain(queue: WorkQueue, url: str) -> None:
    """Post until nothing is left, delays included."""
    while queue.ls():
        queue.sweep()
        Drainer(queue, (SINK,), lambda claim: post(url, claim)).drain(linger=0)


@pytest.mark.parametrize("type_", NOTIFICATIONS)
def test_a_notification_is_a_job_only_where_there_is_a_sink(type_: str) -> None:
    event = Event("run-7.0", type_, "olmf", PLAN)
    (job,) = jobs_for(event, by_subject(TO_SINK))
    assert (job.group, job.lane) == (SINK, "bulk")
    assert job not in jobs_for(event)


def test_an_event_is_posted_with_the_identity_of_its_object(queue: WorkQueue) -> None:
    with a_sink() as sink:
        queue.add(notifications(), "run-7", trace=TRACE)
        drain(queue, sink.url)
        [output] = sink.taken()
    assert {key: value for key, value in output.items() if key.startswith("ce-") and key != "ce-time"} == {
        "ce-specversion": "1.0",
        "ce-id": "run-7.ns.install-1",
        "ce-source": "/olmf",
        "ce-type": "io.olmf.plan.waiting",
        "ce-subject": "/apis/operators.coreos.com/v1alpha1/namespaces/ns/installplans/install-1",
        "ce-apiversion": "operators.coreos.com/v1alpha1",
        "ce-kind": "InstallPlan",
        "ce-name": "install-1",
        "ce-namespace": "ns",
        "ce-traceparent": TRACE,
    }


def test_a_sink_that_refuses_is_asked_again_with_the_same_id(queue: WorkQueue) -> None:
    with a_sink(503, 404) as sink:
        queue.add(notifications(), "run-7")
        Drainer(queue, (SINK,), lambda claim: post(sink.url, claim)).drain(linger=0)
        [waiting] = queue.ls()
        assert (waiting.state, waiting.attempts, waiting.error) == ("delayed", 1, "the sink answered 503: said")
        drain(queue, sink.url)
    assert [headers["answer"] for headers in sink.asked] == ["503", "404", "202"]
    assert len({headers["ce-id"] for headers in sink.asked}) == 1


def test_a_sink_that_is_away_is_a_sentence_and_a_retry() -> None:
    with a_sink() as sink:
        pass
    result = post(sink.url, Claim(STEP, notifications()[-1].ref, SINK, "bulk", 1, causes=("run-7",)))
    assert (result.failure, result.message.startswith("the sink does not answer: ")) == ("retry", True)


def test_what_happens_again_before_it_was_posted_is_posted_once_by_its_last_run(queue: WorkQueue) -> None:
    with a_sink() as sink:
        queue.add(notifications("run-7"), "run-7")
        queue.add(notifications("run-8"), "run-8")
        drain(queue, sink.url)
        assert [output["ce-id"] for output in sink.taken()] == ["run-8.ns.install-1"]


def test_telling_does_not_hold_the_object(queue: WorkQueue) -> None:
    queue.add([*notifications(), Job("install_plan/execute_install_plan", PLAN)], "run-7")
    telling = queue.claim([SINK])
    assert telling is not None
    assert event_of(telling).ref == PLAN
    working = queue.claim(["install_plan"])
    assert working is not None, "a slow sink must not hold up the steps of the plan"
    assert working.ref == PLAN


def test_a_run_that_emits_enqueues_the_sink_in_the_call_that_ends_it(queue: WorkQueue) -> None:
    queue.add([Job("subscription/write_install_plan", Ref("v1", "Namespace", "ns"))], "event")
    claim = queue.claim(["subscription"])
    assert claim is not None
    queue.finish(claim, RunResult("run-7", b"record", jobs=notifications()))
    with a_sink() as sink:
        drain(queue, sink.url)
        assert [output["ce-id"] for output in sink.taken()] == ["run-7.ns.install-1"]


def test_the_program_goes_on_while_the_sink_fails(queue: WorkQueue, redis_url: str) -> None:
    class Enough(BaseException):
        """Ends the endless loop."""

    def run_claim(claim: Claim) -> RunResult:
        if claim.ref.name == "the-end":
            raise Enough
        return post(sink.url, claim)

    def program() -> None:
        with pytest.raises(Enough):
            serve(Settings(redis_url=redis_url, sink=sink.url), run_claim)

    with a_sink(500) as sink:
        thread = threading.Thread(target=program)
        thread.start()
        queue.add(notifications("run-7"), "run-7")
        queue.add(notifications("run-8", INSTALL_PLAN.ref("install-2", "ns")), "run-8")
        wait_for(lambda: queue.sweep() and {output["ce-name"] for output in sink.taken()} == {"install-1", "install-2"})
        queue.add(notifications("run-9", INSTALL_PLAN.ref("the-end", "ns")), "run-9")
        thread.join()


def test_the_program_reports_that_it_goes_on_while_redis_is_full(own_redis: RedisServer) -> None:
    class Enough(BaseException):
        """Ends the endless loop."""

    tries: list[int] = []

    def tried() -> None:
        tries.append(1)
        if len(tries) == 3:
            raise Enough

    with connect(own_redis.url) as client:
        client.config_set("maxmemory", 1)
        with pytest.raises(Enough):
            serve(Settings(redis_url=own_redis.url), tries=tried)


def test_an_error_that_the_outlet_cannot_handle_ends_the_scheduler(own_redis: RedisServer) -> None:
    with connect(own_redis.url) as client:
        client.set("olmf:claims", "not a number")
    scheduler = subprocess.run(
        [sys.executable, "-m", "eventing.cli.main", "run", "scheduler"],
        env={**os.environ, "OLMF_REDIS_URL": own_redis.url, "OLMF_SINK": "http://127.0.0.1:9"},
        timeout=PATIENCE_SECONDS, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (scheduler.returncode, "outlet_failed" in scheduler.stdout + scheduler.stderr) == (1, True)


def jobs_of(installation: Installation) -> Any:
    return json.loads(installation.olmf("queue", "ls", "-o", "json").stdout)


def test_an_installation_reports_that_a_plan_waits(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with a_sink(500) as sink:
        words = ("--state", str(state), "--bundles", str(SAMPLES))
        olmf("up", "--detach", *words, environ={"OLMF_SINK": sink.url})
        try:
            found = Installation.of(state)
            sub = a_subscription("beacon", "one", installPlanApproval="Manual")
            found.apply(a_namespace("one"), an_operator_group("one"), sub)
            waiting = wait_for(lambda: sink.taken(names.PLAN_WAITING))
            [plan] = found.cluster.list(INSTALL_PLAN, "one")
            assert waiting[0]["ce-name"] == plan["metadata"]["name"]
            assert sink.taken(names.PLAN_COMPLETED) == []
            found.olmf("approve", plan["metadata"]["name"], "-n", "one")
            completed = wait_for(lambda: sink.taken(names.PLAN_COMPLETED))
            assert completed[0]["ce-name"] == plan["metadata"]["name"]
            wait_for(lambda: not any(job["step"].startswith(SINK) for job in jobs_of(found)))
        finally:
            olmf("down", "--state", str(state))
