"""Metrics of the queue and of runs for Prometheus, read from Redis.

So one process reports for all workers, and the counters survive the workers; after a flush of Redis they start again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from eventing.watch.exposition import Series
from eventing.workqueue import UNREACHABLE, Depth, Ran, WorkQueue
from shared import telemetry
from shared.telemetry import Metric

RESOLVE = "subscription/resolve_subscriptions"
PARKED = "parked"


def measures(queue: WorkQueue) -> Mapping[Series, float]:
    """The present values; while Redis is unavailable, only `olmf_redis_up`."""
    try:
        depth, ran = queue.depth(), queue.ran()
    except UNREACHABLE:
        return {Series(telemetry.REDIS_UP): 0}
    return {Series(telemetry.REDIS_UP): 1, **_queued(depth), **_runs(ran)}


def _queued(depth: Depth) -> Mapping[Series, float]:
    ready = {Series(telemetry.QUEUE_READY, (("group", group),)): count for group, count in depth.ready.items()}
    return {
        **ready,
        Series(telemetry.QUEUE_RUNNING): depth.running,
        Series(telemetry.QUEUE_DELAYED): depth.delayed,
        Series(telemetry.QUEUE_DEAD): depth.dead,
        Series(telemetry.JOBS_REFUSED): depth.refused,
    }


def _runs(ran: Iterable[Ran]) -> Mapping[Series, float]:
    values: defaultdict[Series, float] = defaultdict(float)
    for each in ran:
        for metric, labels in _metrics(each):
            values[Series(metric, labels, "_count")] += each.count
            values[Series(metric, labels, "_sum")] += each.seconds
        if each.result == PARKED:
            values[Series(telemetry.DEAD_LETTERS, (("step", each.step),))] += each.count
    return values


def _metrics(each: Ran) -> Iterator[tuple[Metric, tuple[tuple[str, str], ...]]]:
    """The summaries that include runs of this step and result, with their labels."""
    if each.result != PARKED:
        yield telemetry.RUN_DURATION, (("step", each.step), ("result", each.result))
        if each.step == RESOLVE:
            yield telemetry.RESOLUTION_DURATION, (("outcome", "succeeded" if each.result == "done" else "failed"),)
