"""Names of metrics and the shape of log lines: one wide line per run."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Literal

import structlog


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric as Prometheus reads it; names and labels are OLM's."""

    name: str
    type: Literal["gauge", "counter"]
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
METRICS = (
    CSV_COUNT, CSV_SUCCEEDED, CSV_ABNORMAL, CSV_UPGRADE_COUNT, INSTALL_PLAN_COUNT, SUBSCRIPTION_COUNT,
    CATALOG_SOURCE_COUNT, CATALOG_SOURCE_READY, SUBSCRIPTION_SYNC_TOTAL,
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
