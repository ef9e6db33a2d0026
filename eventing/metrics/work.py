"""Metrics of the queue and of runs for Prometheus, read from Redis.

So one process reports for all workers, and the counters survive the workers; after a flush of Redis they start again.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from eventing.events.job import RESOLVE
from eventing.metrics.exposition import Series, bound_text
from eventing.workqueue import UNREACHABLE, Backlog, Depth, Ran, WorkQueue, connect
from eventing.workqueue.durations import BOUNDS
from shared.config import Settings
from shared.telemetry import Metric

PARKED, WARNED = "parked", "warned"
QUANTILES: Final = (0.9, 0.95, 0.99)
"""Those of OLM's own summary."""


def reader(settings: Settings) -> Callable[[], Mapping[Series, float]]:
    """A function that reads the present values; nothing where the settings name no Redis."""
    if not settings.redis_url:
        return dict
    queue = WorkQueue(connect(settings.redis_url), settings)
    return lambda: measures(queue)


def measures(queue: WorkQueue) -> Mapping[Series, float]:
    """The present values; while Redis is unavailable, only `olmf_redis_up`."""
    try:
        depth, ran, backlog = queue.depth(), queue.ran(), queue.backlog()
    except UNREACHABLE:
        return {Series(Metric.olmf_redis_up): 0}
    return {Series(Metric.olmf_redis_up): 1, **_queued(depth), **_ages(backlog), **_runs(ran), **_quantiles(ran)}


def _queued(depth: Depth) -> Mapping[Series, float]:
    ready = {Series(Metric.olmf_queue_ready, (("group", group),)): count for group, count in depth.ready.items()}
    return {
        **ready,
        Series(Metric.olmf_queue_running): depth.running,
        Series(Metric.olmf_queue_delayed): depth.delayed,
        Series(Metric.olmf_queue_dead): depth.dead,
        Series(Metric.olmf_refused_jobs_total): depth.refused,
    }


def _ages(backlog: Iterable[Backlog]) -> Mapping[Series, float]:
    ages = {"direct": 0.0, "long": 0.0}
    for one in backlog:
        lane = "long" if one.group == "long" else "direct"
        ages[lane] = max(ages[lane], one.waits_seconds)
    return {Series(Metric.olmf_queue_oldest_seconds, (("lane", lane),)): age for lane, age in ages.items()}


def _runs(ran: Iterable[Ran]) -> Mapping[Series, float]:
    values: defaultdict[Series, float] = defaultdict(float, {Series(Metric.installplan_warnings_total): 0})
    for each in ran:
        for metric, labels in _metrics(each):
            values[Series(metric, labels, "_count")] += each.count
            values[Series(metric, labels, "_sum")] += each.seconds
        if each.result not in (PARKED, WARNED):
            values.update(_buckets(each))
        if each.result == PARKED:
            values[Series(Metric.olmf_dead_letters_total, (("step", each.step),))] += each.count
        if each.result == WARNED:  # of no other step anybody is told
            values[Series(Metric.installplan_warnings_total)] += each.count
    return values


def _buckets(each: Ran) -> Iterator[tuple[Series, float]]:
    """The histogram of a step and result; each bucket counts those before it, too."""
    labels = (("step", each.step), ("result", each.result))
    found = {bucket.bound: bucket for bucket in each.buckets}
    count = 0
    for bound in BOUNDS:
        bucket = found.get(bound)
        count += bucket.runs if bucket else 0
        exemplar = bucket.exemplar if bucket else None
        yield Series(Metric.olmf_run_duration_seconds, (*labels, ("le", bound_text(bound))), "_bucket", exemplar), count
    yield Series(Metric.olmf_run_duration_seconds, (*labels, ("le", bound_text(math.inf))), "_bucket"), each.count


def _metrics(each: Ran) -> Iterator[tuple[Metric, tuple[tuple[str, str], ...]]]:
    """The summaries that include runs of this step and result, with their labels."""
    if each.result not in (PARKED, WARNED):
        yield Metric.olmf_run_duration_seconds, (("step", each.step), ("result", each.result))
        if each.step == RESOLVE:
            yield Metric.olm_resolution_duration_seconds, (("outcome", _outcome(each)),)


def _outcome(each: Ran) -> str:
    return "succeeded" if each.result == "done" else "failed"


def _quantiles(ran: Iterable[Ran]) -> Mapping[Series, float]:
    """Of the newest resolutions of all workers together, by outcome."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for each in ran:
        if each.step == RESOLVE and each.result not in (PARKED, WARNED):
            found[_outcome(each)] += each.recent
    metric = Metric.olm_resolution_duration_seconds
    return {
        Series(metric, (("outcome", outcome), ("quantile", str(share)))): quantile(sorted(durations), share)
        for outcome, durations in found.items()
        for share in QUANTILES
    }


def quantile(ordered: Sequence[float], share: float) -> float:
    """The least of these values that this share of them does not exceed; NaN of none, as the library of OLM says."""
    return ordered[math.ceil(share * len(ordered)) - 1] if ordered else math.nan
