"""What `why` answers: writes with their causes, and last verdicts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from eventing.journal.records import Run


class Node(msgspec.Struct, frozen=True, rename="camel"):
    """One fact, and what caused it."""

    kind: Literal["write", "run", "event", "unknown", "folded"]
    id: str
    text: str
    at: datetime | None = None
    causes: tuple[Node, ...] = ()


class Stuck(msgspec.Struct, frozen=True, rename="camel"):
    """How the last run of a step on the object ended, when it is not simply done."""

    step: str
    verdict: str
    at: datetime
    waits_for: str = ""
    since: str = ""
    next_try: datetime | None = None
    """None: at the next event."""
    until: str = ""
    """That event in words, where it is known."""
    run: str = ""
    attempts: int = 0
    """Failures in a row of a dead letter, which nobody tries again before an event or a person releases it; else 0."""


class Why(msgspec.Struct, frozen=True, rename="camel"):
    """The answer for one object."""

    ref: str
    writes: tuple[Node, ...] = ()
    """What we wrote to it, the newest first, each with its causes."""
    last: tuple[Stuck, ...] = ()
    """The last verdict of each step that looked at it, or told of it when it looked at its namespace."""
    is_known: bool = True
    """The journal holds an event of it, a run on it or a write to it."""

    def until(self, event: str) -> Why:
        """The same, where the event is known that ends its waits."""
        return replace(self, last=tuple(replace(one, until=event if one.waits_for else "") for one in self.last))

    def json(self) -> Any:
        """As JSON values."""
        return msgspec.to_builtins(self)


def verdict_of(run: Run) -> str:
    """The sentence with which a run ended; empty when there is nothing to say."""
    return run.message or (run.decisions[-1].verdict if run.decisions else "")


def instant(ms: float) -> datetime:
    """From milliseconds since the epoch."""
    return datetime.fromtimestamp(int(ms) / 1000, UTC)
