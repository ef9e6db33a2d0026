"""`olmf top`: queue, workers, waiting namespaces and slowest steps, as values and as a screen."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta

from eventing.cli.top import as_json, drawn, lines
from eventing.diagnosis.top import Frame, look
from eventing.events.job import Job
from eventing.workqueue import WorkQueue, connect
from eventing.workqueue.run_result import RunResult
from eventing.workqueue.workers import workers
from shared.config import Settings
from shared.kinds import Ref

STEP, OTHER = "subscription/look", "bundle/unpack_bundle"
WORKER = "host-1-ab"


def a_job(name: str, namespace: str, step: str = STEP, delay: timedelta = timedelta()) -> Job:
    return Job(step, Ref("v1", "ConfigMap", name, namespace), "direct", delay)


def a_frame(url: str) -> Frame:
    """One run ended, one goes on, three jobs wait in two namespaces, one is delayed, one is dead."""
    with connect(url) as client:
        client.sadd("rq:workers", "rq:worker:host-1-ab-child", "rq:worker:somebody-elses")
        fields = {"queues": "olmf", "birth": "2026-01-01T00:00:00.000000Z", "last_heartbeat": "never"}
        client.hset("rq:worker:host-1-ab-child", mapping=fields)
        client.hset("rq:worker:somebody-elses", mapping={"queues": "high,low"})
        queue = WorkQueue(client, Settings(max_failures=1), worker=WORKER)
        for result in (
            RunResult(run_id="1", record=b"{}", took_ms=40),
            RunResult("2", b"{}", failure="bug", message="no"),
        ):
            queue.add([a_job("done", "done", OTHER if result.failure else STEP)], "event")
            assert (claim := queue.claim(("subscription", "bundle")))
            assert queue.finish(claim, result)
        queue.add([a_job("runs", "first")], "event")
        assert queue.claim(("subscription",))
        queue.add([a_job("runs", "first"), a_job("waits", "second"), a_job("too", "second")], "event")
        queue.add([a_job("later", "third", delay=timedelta(minutes=5))], "event")
        before = look(queue, datetime.now(UTC))
        return look(queue, datetime.now(UTC) + timedelta(seconds=30), before)


def test_a_frame_reports_who_waits_and_what_takes_long(redis_url: str) -> None:
    found = json.loads(json.dumps(as_json(a_frame(redis_url)), default=str))
    assert found["queue"] | {"ready": 0} == {"ready": 0, "running": 1, "long": 0, "delayed": 1, "dead": 1}
    assert sum(found["queue"]["ready"].values()) == 2
    assert [(one["name"], one["lane"], one["running"]) for one in found["workers"]] == [
        ("host-1-ab-child", "direct", 1)
    ]
    assert found["workers"][0]["since"] == "2026-01-01 00:00:00+00:00"
    assert [one["ref"] for one in found["running"]] == ["v1/ConfigMap/first/runs"]
    waiting = {one["namespace"]: one for one in found["namespaces"]}
    assert list(waiting) == ["first", "second", "third", "done"]
    assert [
        waiting[name][state]
        for name, state in (("first", "blocked"), ("second", "ready"), ("third", "delayed"), ("done", "dead"))
    ] == [1, 2, 1, 1]
    steps = {one["step"]: (one["runs"], one["failed"], one["meanSeconds"]) for one in found["steps"]}
    assert steps == {STEP: (1, 0, 0.04), OTHER: (1, 1, 0.0)}
    assert found["steps"][0]["step"] == STEP


def test_a_screen_has_what_a_person_looks_for(redis_url: str) -> None:
    shown = list(lines(a_frame(redis_url), "here"))
    assert shown[1] == "queue: 1 running, 2 ready (subscription 2), 0 long, 1 delayed, 1 dead"
    assert [line.split()[0] for line in shown if line.isupper()] == ["WORKER", "RUNNING", "NAMESPACE", "SLOWEST"]
    (second,) = [line.split() for line in shown if line.startswith("second")]
    assert second[:5] == ["second", "2", "0", "0", "0"]
    assert 29 <= int(second[5]) <= 60
    (slowest,) = [line.split() for line in shown if line.startswith(STEP) and "ms" in line]
    assert slowest[1:4] == ["40.0", "ms", "1"]


def test_a_screen_is_drawn_over_the_one_before() -> None:
    text = drawn(["one", "a longer line", "three", "four"], 8, 4)
    assert text.startswith("\x1b[H")
    assert text.endswith("\x1b[J")
    assert re.sub(r"\x1b\[[HKJ]", "", text).split("\r\n") == ["one", "a longer", "three", ""]


def test_a_queue_where_nothing_happened_has_no_tables(redis_url: str) -> None:
    with connect(redis_url) as client:
        frame = look(WorkQueue(client, Settings()), datetime.now(UTC))
        assert workers(client) == ()
    assert list(lines(frame, "here"))[1:] == ["queue: 0 running, 0 ready, 0 long, 0 delayed, 0 dead"]
