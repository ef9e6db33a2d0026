"""What `/metrics` tells of the work: counted by the queue, so one process tells for all workers."""

from __future__ import annotations

import pytest

from eventing.events.job import Job
from eventing.metrics.exposition import Series, text
from eventing.metrics.work import measures, quantile, reader
from eventing.workqueue import WorkQueue, connect
from eventing.workqueue.run_result import RunResult
from shared.config import Settings
from shared.kinds import CONFIG_MAP, NAMESPACE
from shared.telemetry import Metric

STEP, RESOLVE = "demo/step", "subscription/resolve_subscriptions"


def reported(queue: WorkQueue) -> set[str]:
    """The lines with a value."""
    return {
        line for line in text(measures(queue)).splitlines() if not line.startswith("#") and not line.endswith(" 0.0")
    }


def end(queue: WorkQueue, step: str, result: RunResult) -> None:
    group = step.partition("/")[0]
    queue.add([Job(step, NAMESPACE.ref("olm"))], "event")
    claim = queue.claim([group])
    assert claim is not None
    assert queue.finish(claim, result)


@pytest.mark.parametrize(
    ("result", "want"),
    [
        pytest.param(RunResult("r", b""), "done", id="nothing is left to do"),
        pytest.param(RunResult("r", b"", is_waiting=True), "waits", id="it says what it waits for"),
        pytest.param(RunResult("r", b"", failure="retry", message="away"), "retry", id="the world may improve"),
        pytest.param(RunResult("r", b"", failure="bug", message="no"), "bug", id="a bug"),
    ],
)
def test_runs_are_counted_by_how_they_ended(redis_url: str, result: RunResult, want: str) -> None:
    with connect(redis_url) as client:
        queue = WorkQueue(client, Settings())
        end(queue, STEP, result)
        assert f'olmf_run_duration_seconds_count{{result="{want}",step="{STEP}"}} 1.0' in reported(queue)


def test_a_lost_run_is_counted(redis_url: str) -> None:
    with connect(redis_url) as client:
        queue = WorkQueue(client, Settings(), worker="lost")
        queue.add([Job(STEP, NAMESPACE.ref("olm"))], "event")
        assert queue.claim(["demo"])
        queue.sweep(lost_worker="lost")
        assert f'olmf_run_duration_seconds_count{{result="timeout",step="{STEP}"}} 1.0' in reported(queue)


def test_durations_are_summed_csv_md_14_2(redis_url: str) -> None:
    with connect(redis_url) as client:
        queue = WorkQueue(client, Settings())
        for took in (1500.0, 250.0):
            end(queue, RESOLVE, RunResult("r", b"", took_ms=took))
        end(queue, RESOLVE, RunResult("r", b"", took_ms=1000.0, is_waiting=True))
        assert {
            f'olmf_run_duration_seconds_sum{{result="done",step="{RESOLVE}"}} 1.75',
            'olm_resolution_duration_seconds_sum{outcome="succeeded"} 1.75',
            'olm_resolution_duration_seconds_count{outcome="succeeded"} 2.0',
            'olm_resolution_duration_seconds_sum{outcome="failed"} 1.0',
            'olm_resolution_duration_seconds_count{outcome="failed"} 1.0',
        } <= reported(queue), "catalog.md 6: olm_resolution_duration_seconds, by outcome"


def test_durations_are_counted_by_bucket_with_the_trace_of_the_last_run(redis_url: str) -> None:
    with connect(redis_url) as client:
        queue = WorkQueue(client, Settings())
        for took, trace in ((2.0, ""), (200.0, "0af7"), (250.0, "b7ad"), (400_000.0, "00f0")):
            end(queue, STEP, RunResult("r", b"", took_ms=took, exemplar=trace))
        found = {
            dict(series.labels)["le"]: (count, series.exemplar and series.exemplar[:2])
            for series, count in measures(queue).items()
            if series.part == "_bucket"
        }
        assert found == {
            "0.01": (1, None), "0.03": (1, None), "0.1": (1, None), "0.3": (3, ("b7ad", 0.25)), "1.0": (3, None),
            "3.0": (3, None), "10.0": (3, None), "30.0": (3, None), "100.0": (3, None), "300.0": (3, None),
            "+Inf": (4, None),
        }  # fmt: skip


def test_nobody_knows_how_long_a_lost_run_took(redis_url: str) -> None:
    with connect(redis_url) as client:
        queue = WorkQueue(client, Settings(), worker="lost")
        queue.add([Job(STEP, NAMESPACE.ref("olm"))], "event")
        assert queue.claim(["demo"])
        queue.sweep(lost_worker="lost")
        counts = [count for series, count in measures(queue).items() if series.part == "_bucket"]
        assert counts == [0] * 10 + [1]


@pytest.mark.parametrize(
    ("share", "want"),
    [
        pytest.param(0.9, 18.0, id="two of twenty may take longer"),
        pytest.param(0.95, 19.0, id="one of twenty"),
        pytest.param(0.99, 20.0, id="none of twenty"),
    ],
)
def test_a_quantile_is_a_duration_that_was_measured(share: float, want: float) -> None:
    assert quantile([float(number) for number in range(1, 21)], share) == want
    assert quantile([0.25], share) == 0.25


def test_quantiles_are_of_the_last_ten_minutes_of_all_workers_catalog_md_6(redis_url: str) -> None:
    with connect(redis_url) as client:
        for worker, took in (("one", 1500.0), ("another", 250.0)):
            end(WorkQueue(client, Settings(), worker=worker), RESOLVE, RunResult("r", b"", took_ms=took))
        queue = WorkQueue(client, Settings())
        end(queue, RESOLVE, RunResult("r", b"", took_ms=1000.0, is_waiting=True))
        end(queue, RESOLVE, RunResult("r", b"", took_ms=3000.0, failure="bug", message="no"))
        end(queue, STEP, RunResult("r", b"", took_ms=9000.0))
        before = (client.time()[0] - 601) * 1000
        client.rpush(f"olmf:recent:{RESOLVE}|done", f"{before} 70000000")
        shares = ("0.9", "0.95", "0.99")
        assert {line for line in reported(queue) if "quantile" in line} == {
            f'olm_resolution_duration_seconds{{outcome="{outcome}",quantile="{share}"}} {seconds}'
            for outcome, seconds in (("succeeded", 1.5), ("failed", 3.0))
            for share in shares
        }
        client.delete(f"olmf:recent:{RESOLVE}|done")
        assert {
            f'olm_resolution_duration_seconds{{outcome="succeeded",quantile="{share}"}} NaN' for share in shares
        } < (reported(queue)), "nothing was resolved lately"


def test_no_more_durations_are_kept_than_a_thousand(redis_url: str) -> None:
    with connect(redis_url) as client:
        queue = WorkQueue(client, Settings())
        key = f"olmf:recent:{RESOLVE}|done"
        client.rpush(key, *("1 1",) * 1000)
        end(queue, RESOLVE, RunResult("r", b"", took_ms=2.0))
        assert client.llen(key) == 1000
        (newest,) = client.lrange(key, 0, 0)
        assert newest.endswith(b" 2000")
        assert 0 < client.ttl(key) <= 600


def test_a_lost_run_took_as_long_as_it_was_held(redis_url: str) -> None:
    with connect(redis_url) as client:
        queue = WorkQueue(client, Settings(), worker="lost")
        queue.add([Job(RESOLVE, NAMESPACE.ref("olm"))], "event")
        assert queue.claim(["subscription"])
        client.blpop(["nothing"], timeout=0.05)
        queue.sweep(lost_worker="lost")
        (recent,) = (one.recent for one in queue.ran() if one.step == RESOLVE)
        assert len(recent) == 1
        assert recent[0] > 0.03


def test_steps_with_warnings_are_counted_catalog_md_6(redis_url: str) -> None:
    """It is there from the start, as a counter of OLM is, and runs are counted as ever."""
    step = "install_plan/execute_install_plan"
    with connect(redis_url) as client:
        queue = WorkQueue(client, Settings())
        assert "installplan_warnings_total 0.0\n" in text(measures(queue))
        end(queue, step, RunResult("r", b"", warned=2))
        end(queue, step, RunResult("r", b"", warned=1))
        end(queue, step, RunResult("r", b""))
        found = reported(queue)
        assert "installplan_warnings_total 3.0" in found
        assert {line for line in found if "_count" in line} == {
            f'olmf_run_duration_seconds_count{{result="done",step="{step}"}} 3.0'
        }


def test_dead_letters_are_counted_and_reported_as_long_as_they_are_there(redis_url: str) -> None:
    with connect(redis_url) as client:
        queue = WorkQueue(client, Settings(max_failures=1))
        end(queue, STEP, RunResult("r", b"", failure="bug", message="no"))
        assert {f'olmf_dead_letters_total{{step="{STEP}"}} 1.0', "olmf_queue_dead 1.0"} <= reported(queue)
        queue.retry_dead()
        assert f'olmf_dead_letters_total{{step="{STEP}"}} 1.0' in reported(queue)
        assert "olmf_queue_dead 1.0" not in reported(queue)


def test_what_the_queue_holds(redis_url: str) -> None:
    with connect(redis_url) as client:
        queue = WorkQueue(client, Settings())
        queue.add([Job(STEP, CONFIG_MAP.ref(f"map{number}", "olm")) for number in range(3)], "event")
        assert queue.claim(["demo"])
        assert {'olmf_queue_ready{group="demo"} 2.0', "olmf_queue_running 1.0", "olmf_redis_up 1.0"} <= reported(queue)


def test_settings_report_where_the_queue_is(redis_url: str) -> None:
    assert reader(Settings(redis_url=redis_url))()[Series(Metric.olmf_redis_up)] == 1
    assert reader(Settings())() == {}


def test_without_redis_that_is_all_that_is_reported() -> None:
    with connect("redis://127.0.0.1:9/0") as client:
        assert measures(WorkQueue(client, Settings())) == {Series(Metric.olmf_redis_up): 0}
