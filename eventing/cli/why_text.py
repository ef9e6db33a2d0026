"""The answer to `why` as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from eventing.cli.commands import quoted
from eventing.diagnosis.why.facts import LastRun, Node, Why
from shared.domain.command import olmf

_MARKS = {"write": "✎", "run": "▶", "event": "●", "unknown": "?", "folded": "…"}


def text_of(why: Why) -> str:
    """The tree of causes, then the last runs."""
    return "\n".join(_lines(why))


def _lines(why: Why) -> Iterator[str]:
    yield why.ref
    if not why.writes:
        yield "  the journal holds no write of ours to it"
    yield from _branches(why.writes, "")
    if why.last:
        yield ""
        yield "last runs"
    for run in why.last:
        yield from _last_run(run)


def _branches(nodes: Sequence[Node], indent: str) -> Iterator[str]:
    for index, node in enumerate(nodes):
        is_last = index == len(nodes) - 1
        stamp = f"{_clock(node.at)} " if node.at else ""
        yield f"{indent}{'└─' if is_last else '├─'} {_MARKS[node.kind]} {stamp}{node.text}"
        yield from _branches(node.causes, indent + ("   " if is_last else "│  "))


def _last_run(run: LastRun) -> Iterator[str]:
    yield f"  {_clock(run.at)} {run.step}: {run.message}"
    if run.waits_for:
        what = "" if run.waits_for == run.message else f" for {run.waits_for},"
        yield f"      waits{what} since {run.since}"
    if run.attempts:
        retry = olmf("queue", "retry", "--step", run.step)
        yield f"      given up after {run.attempts} failures in a row: {quoted(retry)}"
    elif run.waits_for or run.next_try:
        yield f"      next try: {run.when or 'at the next event'}"


def _clock(at: datetime | None) -> str:
    return at.strftime("%H:%M:%S.%f")[:-3] if at else ""
