"""The state of a run that is under way."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

import msgspec

from eventing.journal.records import Decision
from shared.adapters.kube.reported import PresentRun
from shared.domain.go.text import encodable
from shared.step import Emit


@dataclass(slots=True)
class UnderWay:
    """The decisions, writes and jobs of a run so far."""

    run_id: str
    at: int
    traceparent: str
    reads: PresentRun
    decisions: list[Decision] = field(default_factory=list)
    fresh: dict[str, msgspec.Raw] = field(default_factory=dict)
    emits: list[Emit] = field(default_factory=list)
    announced: tuple[Emit, ...] = ()
    """Of the decision whose writes are under way: some of them may have been sent."""
    own_events: list[str] = field(default_factory=list)
    writes: int = 0
    warned: int = 0
    again_in: timedelta | None = None
    failure: Literal["", "retry", "bug", "lost"] = ""
    message: str = ""
    summary: str = ""
    is_waiting: bool = False
    read_set: bytes = b""
    traceback: str = ""
    code: str = ""

    def only_encodable(self) -> None:
        """Leave no half of a surrogate pair in what is said: somebody's text may have it, and UTF-8 has not."""
        texts = (self.message, self.summary, self.traceback)
        self.message, self.summary, self.traceback = map(encodable, texts)
