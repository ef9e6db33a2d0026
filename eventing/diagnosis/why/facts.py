"""What `why` answers: writes with their causes, and the last runs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

import msgspec
from msgspec.structs import replace


class Node(msgspec.Struct, frozen=True, rename="camel"):
    """One fact, and what caused it."""

    kind: Literal["write", "run", "event", "unknown", "folded"]
    id: str
    text: str
    at: datetime | None = None
    causes: tuple[Node, ...] = ()


class LastRun(msgspec.Struct, frozen=True, rename="camel"):
    """How the last run of a step that concerns the object ended."""

    step: str
    message: str
    at: datetime
    codes: tuple[str, ...] = ()
    """Of a step that decides for many packages: what it said of this one (`shared.domain.statement.Code`)."""
    waits_for: str = ""
    since: str = ""
    next_try: datetime | None = None
    """None: at the next event."""
    until: str = ""
    """That event in words, where it is known; beside a time: what may come before it."""
    run: str = ""
    attempts: int = 0
    """Failures in a row of a dead letter, which nobody tries again before an event or a person releases it; else 0."""

    @property
    def when(self) -> str:
        """When it is tried next: a time, an event in words, or either; empty: at the next event."""
        time = self.next_try.isoformat(timespec="seconds") if self.next_try else ""
        return ", or ".join(filter(None, (time, self.until)))

    def ended(self, event: str) -> LastRun:
        """The same, where the event is known that ends its wait, if it has no time."""
        until = self.until if self.next_try else event or self.until
        return replace(self, until=until if self.waits_for else "")


class Why(msgspec.Struct, frozen=True, rename="camel"):
    """The answer for one object."""

    ref: str
    writes: tuple[Node, ...] = ()
    """What we wrote to it, the newest first, each with its causes."""
    last: tuple[LastRun, ...] = ()
    """Of each step the last run on it, or the last on its namespace that spoke of it."""
    is_known: bool = True
    """The journal holds an event of it, a run on it or a write to it, or a step spoke of it."""

    def until(self, event: str) -> Why:
        """The same, where the event is known that ends its waits."""
        return replace(self, last=tuple(one.ended(event) for one in self.last))

    def json(self) -> Any:
        """As JSON values."""
        return msgspec.to_builtins(self)


def instant(ms: float) -> datetime:
    """From milliseconds since the epoch."""
    return datetime.fromtimestamp(int(ms) / 1000, UTC)
