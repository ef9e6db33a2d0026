"""Prints the runs of steps in the order of time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from eventing.diagnosis.why.causes import short
from eventing.journal import Run

_WIDTH = 140


def timeline(runs: Iterable[Run]) -> Iterator[str]:
    """One line per run with writes, jobs or a failure: seconds since the first, step, object, result."""
    chosen = [run for run in runs if _sent(run) or run.jobs or run.failure]
    start = min((run.at for run in chosen), default=0)
    for run in sorted(chosen, key=lambda run: run.at):
        verdict = run.message or (run.decisions[-1].verdict if run.decisions else "")
        wrote = f"{_sent(run)} writes" if _sent(run) else "failed" if run.failure else "rang"
        seconds, step = (run.at - start) / 1000, run.step.partition("/")[2]
        yield f"{seconds:7.3f} s  {step:<24} {short(run.ref):<40} {wrote:<10} {verdict}"[:_WIDTH]


def _sent(run: Run) -> int:
    return sum(write.did == "sent" for decision in run.decisions for write in decision.writes)
