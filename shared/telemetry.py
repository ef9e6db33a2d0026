"""Names of metrics and the shape of log lines: one wide line per run."""

from __future__ import annotations

import sys
from typing import Any

import structlog


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
