"""Batches of writes: each write of one is tried although others of it are refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from eventing.effects.written import Performed
from shared.ports import WriteFailure
from shared.step import Apply, Create, Delete, Merge, Try, Write

_PATIENCE: Final = timedelta(seconds=5)
"""How long a run waits in all for webhooks that do not answer: each may take half a minute, and the run has to tell."""


def batch_of(write: Write) -> int:
    """The batch that a write is part of; 0: of none."""
    return write.batch if isinstance(write, Create | Apply | Try | Merge | Delete) else 0


@dataclass(slots=True)
class Refusals:
    """What was refused of the writes of a run so far."""

    failures: list[WriteFailure] = field(default_factory=list)
    waited: timedelta = timedelta(0)
    """For webhooks that did not answer."""

    def add(self, failure: WriteFailure, took: timedelta) -> None:
        """A write was refused, after that time."""
        self.failures.append(failure)
        if failure.kind == "unanswered":
            self.waited += took

    def stop(self, write: Write) -> bool:
        """Whether a write is not tried: behind another batch, by a server that serves nobody, or after long."""
        if not self.failures:
            return False
        last = self.failures[-1]
        is_of_same = last.batch != 0 and last.batch == batch_of(write)
        return not is_of_same or last.kind == "unavailable" or self.waited >= _PATIENCE

    def performed(self, *, is_partial: bool = False) -> Performed:
        """What was refused, before what only met another version: that is looked at again with the rest."""
        if not self.failures:
            return Performed(is_partial=is_partial)
        first = next((one for one in self.failures if one.kind != "conflict"), self.failures[0])
        return Performed(failure=first, others=tuple(one for one in self.failures if one is not first))
