"""A run binds ports, performs what was decided, decides again where a refusal says so, and says how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Literal

import pytest
import structlog
from redis.exceptions import BusyLoadingError, MasterDownError, OutOfMemoryError, ReadOnlyError, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from eventing.effects.perform import SLICE
from eventing.events.event import change_id
from eventing.events.job import Job
from eventing.events.keys import itself
from eventing.events.predicates import always
from eventing.journal.records import Run, unpack_run
from eventing.routes import Route, by_subject
from eventing.runner import Runner, Steps
from eventing.runner.lease import TIME_SLICE_SECONDS, CheckLease, Lease
from eventing.workqueue import Claim
from eventing.workqueue.run_result import RunResult
from shared import names
from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest
from shared.kinds import CONFIG_MAP, Ref
from shared.ports import Cluster
from shared.step import Outcome
from tests.eventing.effects.fake_api import FakeApi
from tests.kit.cluster import FixedClock
from tests.kit.one_step import OneStep

ONE = CONFIG_MAP.ref("one", "olm")
ROUTES = (Route(names.GROUP_CHANGED, "demo/do_nothing", itself, always),)


def a_map(name: str = "one") -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "olm"}}


def a_claim(step: str, ref: Ref = ONE, **arguments: object) -> Claim:
    return Claim(f"demo/{step}", ref, "demo", "direct", 1, **arguments)  # type: ignore[arg-type]  # why: brevity


def a_runner(api: FakeApi) -> Runner:
    steps = Steps("tests.eventing.runner.tiny")
    return Runner({Cluster: api}, api, FixedClock(), routes=by_subject(ROUTES), steps=steps)


def run(api: FakeApi, claim: Claim, check_lease: CheckLease = lambda *_: True) -> RunResult:
    return a_runner(api).run(claim, check_lease)


def record_of(result: RunResult) -> Run:
    return unpack_run(result.record).run


def test_a_step_that_decides_nothing_leaves_nothing_to_do() -> None:
    result = run(FakeApi(), a_claim("do_nothing"))
    assert (result.jobs, result.again_in, result.failure, result.message) == ((), None, "", "")


def test_ports_are_bound_by_annotation_and_the_outcome_is_performed() -> None:
    api = FakeApi([a_map()])
    result = run(api, a_claim("mark_map"))
    assert api.objects[ONE]["data"] == {"seen": "2026-01-01T00:00:00+00:00"}
    assert result.jobs == (Job("demo/do_nothing", ONE),)


def test_the_record_reports_what_was_asked_decided_and_answered() -> None:
    api = FakeApi([a_map()])
    record = record_of(run(api, a_claim("mark_map", causes=("event-1",), waited_ms=3)))
    (decision,) = record.decisions
    assert (record.step, record.ref, record.causes, record.waited_ms) == ("demo/mark_map", str(ONE), ["event-1"], 3)
    assert [(answer.port, answer.method) for answer in decision.answers] == [("Cluster", "get"), ("Clock", "now")]
    assert (decision.end, decision.summary) == ("outcome", "one was seen")
    (write,) = decision.writes
    assert (write.op, write.did, write.uid, write.version) == ("Merge", "sent", "uid-101", "102")


def test_retry_later_performs_its_writes_and_waits() -> None:
    ref = CONFIG_MAP.ref("retry", "olm")
    api = FakeApi([a_map("retry")])
    result = run(api, a_claim("raise_error", ref))
    assert api.objects[ref]["status"] == {"state": "retry"}
    assert (result.failure, result.again_in, result.message) == ("retry", timedelta(seconds=7), "no catalog yet")
    assert record_of(result).decisions[0].wait == {
        "what": "a catalog",
        "since": "2026-01-01T00:00:00+00:00",
        "next_try": None,
    }


def test_terminal_performs_its_writes_and_is_not_tried_again() -> None:
    ref = CONFIG_MAP.ref("terminal", "olm")
    api = FakeApi([a_map("terminal")])
    result = run(api, a_claim("raise_error", ref))
    assert api.objects[ref]["status"] == {"state": "terminal"}
    assert (result.failure, result.again_in) == ("", None)
    assert record_of(result).decisions[0].end == "terminal"


@pytest.mark.parametrize(
    ("step", "message"),
    [
        pytest.param("raise_error", "KeyError: 'one'", id="any other exception"),
        pytest.param("want_unknown", "asks for Oracle", id="a port that this process does not have"),
        pytest.param("no_such_step", "there is no module", id="a step that does not exist"),
    ],
)
def test_a_bug_is_counted_with_its_traceback(step: str, message: str) -> None:
    with structlog.testing.capture_logs() as lines:
        result = run(FakeApi(), a_claim(step))
    assert result.failure == "bug"
    assert message in result.message
    assert "Traceback" in record_of(result).traceback
    assert [(line["event"], line["log_level"]) for line in lines] == [("step_done", "error")]


def test_a_message_with_half_a_character_is_stored_without_it() -> None:
    def fail(_: Ref) -> Outcome:
        raise ValueError("a\ud800b")

    api = FakeApi()
    result = Runner({Cluster: api}, api, FixedClock(), steps=OneStep(fail)).run(a_claim("fail"), lambda *_: True)
    assert (result.failure, result.message) == ("bug", "ValueError: a?b")
    assert record_of(result).decisions[0].summary == "ValueError: a?b"


def test_one_wide_line_reports_a_run() -> None:
    with structlog.testing.capture_logs() as lines:
        run(FakeApi([a_map()]), a_claim("mark_map", attempt=2, causes=("event-1",)))
    (line,) = lines
    assert {key: line[key] for key in ("event", "step", "ref", "attempt", "writes", "summary", "causes")} == {
        "event": "step_done",
        "step": "demo/mark_map",
        "ref": str(ONE),
        "attempt": 2,
        "writes": 1,
        "summary": "one was seen",
        "causes": ["event-1"],
    }


@pytest.mark.parametrize(
    ("status", "want"),
    [
        pytest.param(503, ("retry", (Job("demo/do_nothing", ONE),)), id="the run is tried again later"),
        pytest.param(409, ("", (Job("demo/do_nothing", ONE),)), id="the step decides again, and finds nothing changed"),
    ],
)
def test_a_written_object_enqueues_though_a_later_write_is_refused(
    status: int, want: tuple[str, tuple[Job, ...]]
) -> None:
    api = FakeApi([a_map(), a_map("two")])
    api.refuse("merge", "two", ApiError(status, "Refused", "not now"))
    result = run(api, a_claim("mark_two"))
    assert (result.failure, result.jobs) == want


def test_what_was_not_written_enqueues_nobody() -> None:
    api = FakeApi([a_map()])
    api.refuse("merge", "one", ApiError(503, "Unavailable", "not now"))
    assert run(api, a_claim("mark_map")).jobs == ()


def test_a_conflict_runs_the_step_again_at_once() -> None:
    api = FakeApi([a_map()])
    api.refuse("merge", "one", ApiError(409, "Conflict", "changed"))
    result = run(api, a_claim("mark_map"))
    assert result.failure == ""
    assert api.calls == ["get one", "merge one", "get one", "merge one"]
    assert [decision.failure for decision in record_of(result).decisions] == ["conflict", ""]


def test_a_refusal_is_given_to_a_step_that_names_the_attempt() -> None:
    api = FakeApi()
    api.refuse("apply", "one", ApiError(422, "Invalid", "spec.x: not allowed"))
    result = run(api, a_claim("explain_refusal"))
    assert result.failure == ""
    assert api.objects[CONFIG_MAP.ref("refused", "olm")]["data"] == {"said": "spec.x: not allowed"}


def test_a_refusal_is_given_once_per_claim() -> None:
    api = FakeApi()
    for name in ("one", "refused"):
        api.refuse("apply", name, ApiError(403, "Forbidden", "no"))
    result = run(api, a_claim("explain_refusal"))
    assert (result.failure, result.again_in) == ("retry", None)
    assert api.calls == ["apply one", "apply refused"]


@pytest.mark.parametrize(("status", "calls"), [(403, 2), (422, 2), (503, 2)])
def test_a_refusal_backs_off_where_the_step_does_not_name_the_attempt(status: int, calls: int) -> None:
    api = FakeApi([a_map()])
    api.refuse("merge", "one", ApiError(status, "Any", "no"))
    result = run(api, a_claim("mark_map"))
    assert (result.failure, result.again_in, result.jobs) == ("retry", None, ())
    assert len(api.calls) == calls
    assert str(ONE) in result.message


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        pytest.param(503, "retry", id="a server that is away comes back"),
        pytest.param(403, "retry", id="a right may be granted at any time"),
        pytest.param(400, "bug", id="a request that makes no sense will never make any"),
    ],
)
def test_what_a_refused_read_means(status: int, failure: str) -> None:
    api = FakeApi([a_map()])
    api.refuse("get", "one", ApiError(status, "Any", "no"))
    assert run(api, a_claim("mark_map")).failure == failure


def test_a_lost_lease_writes_nothing_and_enqueues_nobody() -> None:
    api = FakeApi([a_map()])
    result = run(api, a_claim("mark_map"), lambda *_: False)
    assert (result.failure, result.jobs) == ("lost", ())
    assert api.calls == ["get one"]


def test_the_queue_learns_before_the_first_write_what_the_run_enqueues() -> None:
    api = FakeApi()
    reported = []

    def check_lease(jobs: Sequence[Job], _: Sequence[str]) -> float:
        reported.append((len(api.objects), tuple(jobs)))
        return True

    result = a_slow_runner(api).run(a_claim("make_many"), check_lease, lambda: (check_lease((), ()), False))
    assert reported[0] == (0, result.jobs)
    assert {jobs for _, jobs in reported[1:]} == {()}


@pytest.mark.parametrize(
    ("left", "asked"),
    [
        pytest.param(10.0, 2, id="for a time slice"),
        pytest.param(0.7 * TIME_SLICE_SECONDS, 3, id="and never for longer than the lease"),
    ],
)
def test_the_answer_of_the_queue_is_good_for_a_while(left: float, asked: int) -> None:
    """Each look at the clock takes 0.3 of a time slice, and each write one or two looks."""
    seconds, times = count(step=0.3 * TIME_SLICE_SECONDS), list[None]()

    def check_lease(*_: object) -> float:
        times.append(None)
        return left

    lease = Lease(check_lease, lambda: (check_lease(), False), lambda: next(seconds))
    lease.records_jobs((), (), may_rest=False)
    assert [lease.is_lease_valid() for _ in range(5)] == [True] * 5
    assert len(times) == asked


def test_a_queue_that_cannot_be_asked_is_no_bug_of_the_step() -> None:
    def check_lease(*_: object) -> bool:
        raise ConnectionError("the queue is away")

    api = FakeApi([a_map()])
    with pytest.raises(ConnectionError, match="the queue is away"):
        run(api, a_claim("mark_map"), check_lease)
    assert api.calls == ["get one"]


REDIS_ERRORS = (
    pytest.param(OutOfMemoryError("command not allowed when used memory > 'maxmemory'"), id="it is full"),
    pytest.param(ReadOnlyError("You can't write against a read only replica."), id="it is a replica"),
    pytest.param(ResponseError("MISCONF Errors writing to the AOF file"), id="its disk is full"),
    pytest.param(ResponseError("NOREPLICAS Not enough good replicas to write."), id="its replicas are away"),
    pytest.param(MasterDownError("Link with MASTER is down"), id="its master is away"),
    pytest.param(BusyLoadingError("Redis is loading the dataset in memory"), id="it loads"),
    pytest.param(RedisConnectionError("Connection reset by peer"), id="the connection is lost"),
    pytest.param(RedisTimeoutError("Timeout reading from socket"), id="it does not answer"),
)
"""What a call of Redis raises below a port while it is away or refuses."""


class Interrupted(FakeApi):
    """Raises an error after it has stored what it was sent, or instead of an answer."""

    def __init__(self, error: Exception, *, when: Literal["read", "written"]) -> None:
        super().__init__([a_map()])
        self._error, self._when = error, when

    def get(self, ref: Ref) -> Manifest | None:
        if self._when == "read":
            raise self._error
        return super().get(ref)

    def merge(self, ref: Ref, patch: Manifest, *, subresource: str = "", field_manager: str = "") -> Manifest:
        super().merge(ref, patch, subresource=subresource, field_manager=field_manager)
        raise self._error


@pytest.mark.parametrize("error", REDIS_ERRORS)
@pytest.mark.parametrize("when", ["read", "written"])
def test_a_redis_that_refuses_below_a_port_is_no_bug_of_the_run(
    error: Exception, when: Literal["read", "written"]
) -> None:
    """The claim is left to the queue, which enqueues what the run promised before its first write."""
    reported: list[Job] = []

    def check_lease(jobs: Sequence[Job], _: Sequence[str]) -> bool:
        reported.extend(jobs)
        return True

    with pytest.raises(type(error)):
        run(Interrupted(error, when=when), a_claim("mark_map"), check_lease)
    assert reported == ([] if when == "read" else [Job("demo/do_nothing", ONE)])


def test_a_bug_behind_a_write_keeps_what_the_decision_enqueues() -> None:
    result = run(Interrupted(KeyError("metadata"), when="written"), a_claim("mark_map"))
    assert (result.failure, result.jobs) == ("bug", (Job("demo/do_nothing", ONE),))


def test_the_events_that_a_write_will_enqueue_are_named() -> None:
    result = run(FakeApi([a_map()]), a_claim("mark_map"))
    assert result.own_events == (change_id("uid-101", "102", "update"),)


def test_a_slice_runs_again_at_once_and_each_enqueues_for_what_it_wrote() -> None:
    api = FakeApi()
    first, second = (run(api, a_claim("make_many")) for _ in range(2))
    assert (first.again_in, len(first.jobs)) == (timedelta(0), 1)
    assert (second.again_in, len(second.jobs), len(api.objects)) == (None, 1, 70)


def test_the_warnings_of_its_writes_are_counted() -> None:
    """catalog.md 6: each write that was answered with some counts once."""
    api = FakeApi()
    api.warned = {"map-1": ("a is old", "b is going"), "map-7": ("a is old",)}
    assert run(api, a_claim("make_many")).warned == 2


def test_a_run_is_a_span_of_the_story_that_enqueued_it() -> None:
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    first, second = (run(FakeApi(), replace(a_claim("do_nothing"), trace=trace)) for _ in range(2))
    assert record_of(first).trace == first.trace
    assert first.trace.split("-")[1] == second.trace.split("-")[1] == trace.split("-")[1]
    assert len({trace, first.trace, second.trace}) == 3


def a_slow_runner(api: FakeApi) -> Runner:
    """Each look at the clock takes nearly a turn."""
    seconds = count(step=0.75 * TIME_SLICE_SECONDS)
    steps = Steps("tests.eventing.runner.tiny")
    return Runner(
        {Cluster: api}, api, FixedClock(), routes=by_subject(ROUTES), steps=steps, seconds=lambda: next(seconds)
    )


def created(api: FakeApi) -> int:
    return len([call for call in api.calls if call.startswith("create")])


def test_a_run_that_writes_for_long_leaves_the_rest_to_the_next_one_if_others_wait() -> None:
    api = FakeApi()
    result = a_slow_runner(api).run(a_claim("make_many"), lambda *_: True, lambda: (1, True))
    assert (created(api), result.again_in) == (2, timedelta(0))


def test_a_run_that_writes_for_long_goes_on_if_nobody_waits() -> None:
    api = FakeApi()
    result = a_slow_runner(api).run(a_claim("make_many"), lambda *_: True, lambda: (1, False))
    assert (created(api), result.again_in) == (SLICE, timedelta(0))


def test_no_run_rests_twice_in_a_row() -> None:
    """What somebody reverts all the time is written first each time: what stands behind it has its turn, too."""
    api = FakeApi()
    runner = a_slow_runner(api)
    for _ in range(2):
        runner.run(a_claim("make_many"), lambda *_: True, lambda: (1, True))
    assert created(api) >= SLICE


def test_a_run_that_notifies_a_sink_does_not_rest() -> None:
    api = FakeApi()
    a_slow_runner(api).run(a_claim("tell_outside"), lambda *_: True, lambda: (1, True))
    assert created(api) == SLICE
