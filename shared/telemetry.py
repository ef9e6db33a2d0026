"""Metrics, and the shape of log lines."""

from __future__ import annotations

import re
import sys
from collections.abc import MutableMapping
from contextlib import suppress
from enum import Enum, unique
from typing import Any, Literal

import structlog


@unique
class Metric(Enum):
    """Metrics by name, in the order of `/metrics`; those that do not begin with `olmf_` have OLM's names and labels."""

    def __init__(self, type_: Literal["gauge", "counter", "summary", "histogram"], help_: str) -> None:
        self.type = type_
        self.help = help_

    csv_count = "gauge", "Number of CSVs that are no copies"
    csv_succeeded = "gauge", "1 while a CSV is Succeeded, else 0"
    csv_abnormal = "gauge", "1 while a CSV is not Succeeded, with its phase and reason"
    csv_upgrade_count = "counter", "CSVs that began to be replaced by another"
    install_plan_count = "gauge", "Number of InstallPlans"
    subscription_count = "gauge", "Number of Subscriptions"
    catalog_source_count = "gauge", "Number of CatalogSources"
    catalogsource_ready = "gauge", "1 while a CatalogSource is READY, else 0"
    catalog_source_snapshots_total = "counter", "How often a CatalogSource was seen with new content"
    subscription_sync_total = "counter", "Changes of a Subscription that were looked at"
    installplan_warnings_total = "counter", "Steps of InstallPlans that the API server answered with warnings"
    olm_resolution_duration_seconds = (
        "summary",
        "Resolutions of a namespace, and whether each Subscription got its answer",
    )
    olmf_cluster_catalog_count = "gauge", "Number of ClusterCatalogs"
    olmf_cluster_catalog_serving = "gauge", "1 while a ClusterCatalog is served, else 0"
    olmf_cluster_extension_count = "gauge", "Number of ClusterExtensions"
    olmf_cluster_extension_installed = "gauge", "1 while a bundle of a ClusterExtension is installed, else 0"
    olmf_cluster_extension_abnormal = "gauge", "1 while a ClusterExtension is not as it should be, with the reason"
    olmf_cluster_object_set_count = "gauge", "Number of ClusterObjectSets"
    olmf_run_duration_seconds = (
        "histogram",
        "Runs of a step by their end: done, waits, retry, bug, timeout, interrupted",
    )
    olmf_dead_letters_total = "counter", "Jobs of a step that failed too often and were parked"
    olmf_queue_ready = "gauge", "Jobs of a group that could run now"
    olmf_queue_oldest_seconds = "gauge", "How long the job of a lane waits that came first; 0: none waits"
    olmf_queue_running = "gauge", "Jobs that run"
    olmf_queue_delayed = "gauge", "Jobs that wait for their time"
    olmf_queue_dead = "gauge", "Dead letters: an event of their object, or a person, releases them"
    olmf_refused_jobs_total = "counter", "RQ jobs that were not ours"
    olmf_redis_up = "gauge", "1 while Redis answers; else nothing is told of runs and queue"
    olmf_skipped_events_total = "counter", "Objects and events of a kind that could not be handled and were skipped"
    olmf_sink_failing_seconds = "gauge", "For how long events could not be recorded and queued"
    olmf_watch_silence_seconds = "gauge", "How long ago the watch of a kind heard from the API server"


class _Stderr:
    """Standard error; a line for which the disk has no room is lost, because no program shall end by its log."""

    def write(self, text: str) -> None:
        with suppress(OSError):
            sys.stderr.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            sys.stderr.flush()


_PASSWORD = re.compile(r"(://[^/\s:@]*:)[^/\s@]+(?=@)")


def _without_passwords(_: object, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The line without passwords that somebody typed into a URL."""
    for key, value in line.items():
        if isinstance(value, str) and "@" in value:
            line[key] = _PASSWORD.sub(r"\1***", value)
    return line


def configure_logging(level: str = "info", *, as_json: bool = True) -> None:
    """Make every log line a JSON object (or a line for people) on stderr."""
    renderer: Any = structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer(colors=False)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _without_passwords,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(_Stderr()),  # type: ignore[arg-type]  # `print` needs no more
        cache_logger_on_first_use=True,
    )
