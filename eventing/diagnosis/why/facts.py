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
    """That event in words, where it is known."""
    run: str = ""
    attempts: int = 0
    """Failures in a row of a dead letter, which nobody tries again before an event or a person releases it; else 0."""


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
        return replace(
            self, last=tuple(replace(one, until=(event or one.until) if one.waits_for else "") for one in self.last)
        )

    def json(self) -> Any:
        """As JSON values."""
        return msgspec.to_builtins(self)


def instant(ms: float) -> datetime:
    """From milliseconds since the epoch."""
    return datetime.fromtimestamp(int(ms) / 1000, UTC)
