"""What one installation asks of a real API server, run by run: `python -m tests.bench.trace [PACKAGE]`."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import redis

from eventing.journal.records import Recorded, Run
from eventing.journal.stream import RedisJournal
from tests.bench import processors
from tests.bench.audit import OURS, Line
from tests.bench.requests import PROMETHEUS, REAL_PACKAGES, real, settle
from tests.kit.installation import Installation, a_namespace, a_subscription, an_operator_group


def main(package: str = PROMETHEUS) -> None:
    """Print the table."""
    version = REAL_PACKAGES[package]
    with tempfile.TemporaryDirectory() as folder, real(Path(folder)) as (installation, audit, _):
        settle(audit)
        installation.apply(a_namespace(package), an_operator_group(package, targets=(package,)))
        settle(audit)
        lines, used, began = audit.lines(), processors.mark(installation), time.time()
        installation.apply(a_subscription(package, package))
        installation.until_phase(version, package)
        ended, took = time.time(), used()
        time.sleep(1.0)
        found = [line for line in lines() if line.verb != "watch"]
        asked = sum(line.agent in OURS and line.at <= ended for line in found)
        used_until_then = f"{asked} requests; processor time until then: {processors.reported(took)}"
        print(f"Succeeded after {ended - began:.2f} s and {used_until_then}")
        for text in reported(runs_since(installation, began), found, began):
            print(text)


def runs_since(installation: Installation, began: float) -> list[Run]:
    """The runs that the journal has since then, by their start."""
    address = json.loads((installation.state / "olmf.json").read_text())["redis"]
    journal = RedisJournal(redis.Redis.from_url(address))
    runs = (entry.run for entry in journal.entries(is_brief=True) if isinstance(entry, Recorded))
    return sorted((run for run in runs if run.at >= began * 1000), key=lambda run: run.at)


def reported(runs: Iterable[Run], lines: Iterable[Line], began: float) -> Iterator[str]:
    """One line for each run, for each request of it, and for each request of others that changed something."""
    by_run: Mapping[str, list[Line]] = defaultdict(list)
    others: list[tuple[float, str]] = []
    for line in lines:
        run_id, _, number = line.audit_id.rpartition(".")
        if number.isdigit() and line.agent.startswith("olmf/worker"):
            by_run[run_id].append(line)
        elif not line.is_read:
            others.append((line.at, f"{_ms(line.at - began)}      {line.agent[:60]}: {_asked(line)}"))
    for run in runs:
        reads = sum(line.is_read for line in by_run[run.id])
        text = (
            f"{_ms(run.at / 1000 - began)} {run.step} {run.ref} waited {run.waited_ms} took {run.took_ms:.0f} ms, "
            f"{reads} reads, {len(by_run[run.id]) - reads} writes {run.failure} {run.summary[:90]}"
        )
        asked = [f"{_ms(line.at - began)}            {_asked(line)}" for line in by_run[run.id]]
        others.append((run.at / 1000, "\n".join([text, *asked])))
    yield from (text for _, text in sorted(others))


def _asked(line: Line) -> str:
    return f"{line.verb} {line.uri} {line.status} {line.took * 1000:.0f} ms"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:6.0f}"


if __name__ == "__main__":
    main(*sys.argv[1:])
