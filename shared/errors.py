"""The two families of errors that a step may raise; anything else is a bug.

StepError
├── RetryLater   the cause may go away by itself: run again after a delay, without limit, never parked
└── Terminal     only an edit can help: wait for the next event of the ref
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shared.step import Wait, Write


class StepError(Exception):
    """A step could not do its work; one sentence says which object, what was found and what was expected."""


@dataclass(eq=False)
class RetryLater(StepError):
    """The cause may go away by itself: run the step again after `after`."""

    message: str
    after: timedelta = timedelta(seconds=15)
    writes: tuple[Write, ...] = field(default=(), kw_only=True)
    """Writes to perform before waiting, e.g. the status that says why."""
    wait: Wait | None = field(default=None, kw_only=True)

    def __str__(self) -> str:
        return self.message


@dataclass(eq=False)
class Terminal(StepError):
    """Only an edit can help; `reason` is a CamelCase word, `message` a sentence."""

    reason: str
    message: str
    writes: tuple[Write, ...] = field(default=(), kw_only=True)
    wait: Wait | None = field(default=None, kw_only=True)

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"
