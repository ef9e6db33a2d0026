"""One entry for the queue: which step runs for which object."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal, TypeAlias

from shared.kinds import Ref

Lane: TypeAlias = Literal["direct", "bulk", "long"]
"""`bulk` runs behind `direct`; `long` is for what may take minutes, in workers of its own. A step has one lane or the
first two."""


SINK = "sink"
"""The group of jobs that post events to an external sink (`eventing/worker/outlet.py`)."""


OUTSIDE = "outside"
"""First part of the API group in the ref of such a job."""


@dataclass(frozen=True, slots=True)
class Job:
    """One entry for the queue: which step runs for which object."""

    step: str
    """`<group>/<step>`: the file `functions/<group>/<step>.py`."""
    ref: Ref
    lane: Lane = "direct"
    delay: timedelta = timedelta()
    """How long the job waits for further events before it runs; none where a run rings it."""

    @property
    def group(self) -> str:
        """The folder of the step: its queue, its Knative Service, its ServiceAccount."""
        return self.step.partition("/")[0]


def from_outside(ref: Ref) -> Ref:
    """The ref of the object itself: the inverse of `itself_outside`."""
    return replace(ref, api_version=ref.api_version.removeprefix(OUTSIDE)[1:])
