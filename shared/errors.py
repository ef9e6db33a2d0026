"""The two families of errors that a step may raise; anything else is a bug.

StepError
├── RetryLater   the world may improve: run again after a delay, for ever, never parked
└── Terminal     only an edit can help: wait for the next event of the ref
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shared.step import Wait, Write


class StepError(Exception):
    """A step could not do its work, and says so in one sentence: who, what was seen, what was wanted."""


@dataclass(eq=False)
class RetryLater(StepError):
    """The world may improve: run the step again after `after`."""

    message: str
    after: timedelta = timedelta(seconds=15)
    writes: tuple[Write, ...] = field(default=(), kw_only=True)
    """Performed before waiting, e.g. the status that says why."""
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
