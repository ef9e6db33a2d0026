"""Names of metrics and the shape of log lines: one wide line per run."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Literal

import structlog


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric as Prometheus reads it; what does not begin with `olmf_` has OLM's name and labels."""

    name: str
    type: Literal["gauge", "counter", "summary"]
    help: str


CSV_COUNT = Metric("csv_count", "gauge", "Number of CSVs that are no copies")
CSV_SUCCEEDED = Metric("csv_succeeded", "gauge", "1 while a CSV is Succeeded, else 0")
CSV_ABNORMAL = Metric("csv_abnormal", "gauge", "1 while a CSV is not Succeeded, with its phase and reason")
CSV_UPGRADE_COUNT = Metric("csv_upgrade_count", "counter", "CSVs that began to be replaced by another")
INSTALL_PLAN_COUNT = Metric("install_plan_count", "gauge", "Number of InstallPlans")
SUBSCRIPTION_COUNT = Metric("subscription_count", "gauge", "Number of Subscriptions")
CATALOG_SOURCE_COUNT = Metric("catalog_source_count", "gauge", "Number of CatalogSources")
CATALOG_SOURCE_READY = Metric("catalogsource_ready", "gauge", "1 while a CatalogSource is READY, else 0")
SUBSCRIPTION_SYNC_TOTAL = Metric("subscription_sync_total", "counter", "Changes of a Subscription that were looked at")
RESOLUTION_DURATION = Metric(
    "olm_resolution_duration_seconds",
    "summary",
    "Resolutions of a namespace, and whether each Subscription got its answer",
)
RUN_DURATION = Metric(
    "olmf_run_duration_seconds", "summary", "Runs of a step, and how they ended: done, waits, retry, bug or timeout"
)
DEAD_LETTERS = Metric("olmf_dead_letters_total", "counter", "Jobs of a step that failed too often and were parked")
QUEUE_READY = Metric("olmf_queue_ready", "gauge", "Jobs of a group that could run now")
QUEUE_RUNNING = Metric("olmf_queue_running", "gauge", "Jobs that run")
QUEUE_DELAYED = Metric("olmf_queue_delayed", "gauge", "Jobs that wait for their time")
QUEUE_DEAD = Metric("olmf_queue_dead", "gauge", "Dead letters: an event of their object, or a person, releases them")
JOBS_REFUSED = Metric("olmf_refused_jobs_total", "counter", "RQ jobs that were not ours")
REDIS_UP = Metric("olmf_redis_up", "gauge", "1 while Redis answers; else nothing is told of runs and queue")
WATCH_AGE = Metric("olmf_watch_silence_seconds", "gauge", "How long ago the watch of a kind heard from the API server")
METRICS = (
    CSV_COUNT, CSV_SUCCEEDED, CSV_ABNORMAL, CSV_UPGRADE_COUNT, INSTALL_PLAN_COUNT, SUBSCRIPTION_COUNT,
    CATALOG_SOURCE_COUNT, CATALOG_SOURCE_READY, SUBSCRIPTION_SYNC_TOTAL, RESOLUTION_DURATION, RUN_DURATION,
    DEAD_LETTERS, QUEUE_READY, QUEUE_RUNNING, QUEUE_DELAYED, QUEUE_DEAD, JOBS_REFUSED, REDIS_UP, WATCH_AGE,
)  # fmt: skip
"""What the watcher tells under `/metrics`, in this order."""


def configure_logging(level: str = "info", *, as_json: bool = True) -> None:
    """Make every log line a JSON object (or a line for people) on stderr."""
    renderer: Any = structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer(colors=False)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
