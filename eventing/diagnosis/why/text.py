"""The answer to `why` as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from eventing.diagnosis.why.facts import Node, Stuck, Why

_MARKS = {"write": "✎", "run": "▶", "event": "●", "unknown": "?", "folded": "…"}


def text_of(why: Why) -> str:
    """The tree of causes, then the last verdicts."""
    return "\n".join(_lines(why))


def _lines(why: Why) -> Iterator[str]:
    yield why.ref
    if not why.writes:
        yield "  the journal holds no write of ours to it"
    yield from _branches(why.writes, "")
    if why.last:
        yield ""
        yield "last verdicts"
    for stuck in why.last:
        yield from _verdict(stuck)


def _branches(nodes: Sequence[Node], indent: str) -> Iterator[str]:
    for index, node in enumerate(nodes):
        is_last = index == len(nodes) - 1
        stamp = f"{_clock(node.at)} " if node.at else ""
        yield f"{indent}{'└─' if is_last else '├─'} {_MARKS[node.kind]} {stamp}{node.text}"
        yield from _branches(node.causes, indent + ("   " if is_last else "│  "))


def _verdict(stuck: Stuck) -> Iterator[str]:
    yield f"  {_clock(stuck.at)} {stuck.step}: {stuck.verdict}"
    if stuck.waits_for:
        what = "" if stuck.waits_for in stuck.verdict else f" for {stuck.waits_for},"
        yield f"      waits{what} since {stuck.since}"
    if stuck.attempts:
        yield f"      given up after {stuck.attempts} failures in a row: `olmf queue retry --step {stuck.step}`"
    elif stuck.waits_for or stuck.next_try:
        when = stuck.next_try.isoformat(timespec="seconds") if stuck.next_try else stuck.until or "at the next event"
        yield f"      next try: {when}"


def _clock(at: datetime | None) -> str:
    return at.strftime("%H:%M:%S.%f")[:-3] if at else ""
