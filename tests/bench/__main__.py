"""Every budget in one table: `make bench`, or `python -m tests.bench [PAGE …]`; 1 when a budget is missed."""

from __future__ import annotations

import importlib
import os
import platform
import sys
import time
from datetime import UTC, datetime

from shared.telemetry import configure_logging

PAGES = (
    "queue",
    "journal",
    "watch",
    "content",
    "catalogs",
    "snapshots",
    "serving",
    "packages",
    "kubectl_packages",
    "many_packages",
    "config_maps",
    "plans",
    "resolver",
    "extensions",
    "installs",
    "together",
    "requests",
    "rollouts",
    "scoped",
    "latency",
    "redis_latency",
    "scale",
)
"""The modules beside this one; each has `rows()`."""


def main(pages: tuple[str, ...]) -> int:
    """Print the rows of the pages as they come."""
    configure_logging("error")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # why: no user compiles the program anew at each start
    started, missed = time.monotonic(), 0
    sys.stdout.write(f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, {platform.machine()}\n\n")
    for page in pages:
        for row in importlib.import_module(f"tests.bench.{page}").rows():
            sys.stdout.write(f"{row}\n")
            sys.stdout.flush()
            missed += not row.is_kept
    sys.stdout.write(f"\n{missed} over budget, {time.monotonic() - started:.0f} s\n")
    return 1 if missed else 0


if __name__ == "__main__":
    unknown = set(sys.argv[1:]) - set(PAGES)
    if unknown:
        sys.exit(f"no page {', '.join(sorted(unknown))}; there are {', '.join(PAGES)}")
    sys.exit(main(tuple(sys.argv[1:]) or PAGES))
