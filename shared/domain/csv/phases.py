"""The status of a ClusterServiceVersion: sets phases and keeps their history (csv.md §2.2–2.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Final, Literal

from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly, timestamp
from shared.api.views import Csv

Phase = Literal["", "Pending", "InstallReady", "Installing", "Succeeded", "Failed", "Replacing", "Deleting"]

HISTORY: Final = 20
"""Maximum number of conditions."""

_FIRST_PAUSE: Final = timedelta(seconds=5)
_LONGEST_PAUSE: Final = timedelta(minutes=5)
_RECENT: Final = timedelta(minutes=15)
CALM: Final = timedelta(minutes=1)
"""After so long in Succeeded a failure has nothing to do with those before: somebody did new harm."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A Kubernetes Event about a transition."""

    type: Literal["Normal", "Warning"]
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Status:
    """The status of a ClusterServiceVersion: as it was read, with the changes to write."""

    manifest: ReadOnly
    now: datetime
    notices: tuple[Notice, ...] = ()

    @property
    def phase(self) -> str:
        """The present phase; empty before the first one."""
        return fields.text(self.manifest, "phase")

    @property
    def reason(self) -> str:
        """The reason of the present phase, one word."""
        return fields.text(self.manifest, "reason")

    @property
    def message(self) -> str:
        """The message of the present phase, for people."""
        return fields.text(self.manifest, "message")

    @property
    def since(self) -> datetime:
        """When the present phase began; now when that is not known, or is yet to come."""
        return min(fields.moment(self.manifest, "lastTransitionTime") or self.now, self.now)

    def to(self, phase: Phase, reason: str, message: str) -> Status:
        """The status in another phase, with a notice; unchanged when phase, reason and message are the same."""
        if (phase, reason, message) == (self.phase, self.reason, self.message):
            return self
        now = timestamp(self.now)
        began = now if phase != self.phase else fields.text(self.manifest, "lastTransitionTime") or now
        entry: Manifest = {
            "phase": phase,
            "reason": reason,
            "message": message,
            "lastUpdateTime": now,
            "lastTransitionTime": began,
        }
        manifest = {**self.manifest, **entry, "conditions": _with(fields.parts(self.manifest, "conditions"), entry)}
        notice = Notice("Warning" if phase == "Failed" else "Normal", reason, message)
        return replace(self, manifest=manifest, notices=(*self.notices, notice))

    def requiring(self, requirements: Sequence[ReadOnly]) -> Status:
        """The status with the given `requirementStatus`."""
        return replace(self, manifest={**self.manifest, "requirementStatus": list(requirements)})


def _with(history: Sequence[ReadOnly], entry: ReadOnly) -> list[ReadOnly]:
    """The history with the new entry; an entry with the same phase and reason as the last is not added."""
    last = history[-1] if history else fields.EMPTY
    if (fields.text(last, "phase"), fields.text(last, "reason")) == (entry["phase"], entry["reason"]):
        return list(history)
    return [*history, entry][-HISTORY:]


def pause_left(status: Status, *, free: int) -> timedelta:
    """How long a failed version still waits before the next attempt: the pause doubles with each recent failure.

    The first `free` failures need no pause; those before a calm minute in Succeeded do not count.
    """
    history = _since_calm(fields.parts(status.manifest, "conditions"))
    moments = (fields.moment(one, "lastUpdateTime") for one in history if fields.text(one, "phase") == "Failed")
    failures = sum(moment is not None and status.now - moment <= _RECENT for moment in moments)
    pause = min(_FIRST_PAUSE * 2 ** (failures - free - 1), _LONGEST_PAUSE) if failures > free else timedelta()
    return max(status.since + pause - status.now, timedelta())


def _since_calm(history: Sequence[ReadOnly]) -> Sequence[ReadOnly]:
    """The end of a history after the last long time in Succeeded; all of it without one."""
    for index in range(len(history) - 1, 0, -1):
        begin, end = (fields.moment(history[one], "lastTransitionTime") for one in (index - 1, index))
        is_calm = begin is not None and end is not None and end - begin >= CALM
        if is_calm and fields.text(history[index - 1], "phase") == "Succeeded":
            return history[index:]
    return history


def not_working_since(csv: Csv) -> datetime | None:
    """Since when it has not been Succeeded, whatever it tried since, as far as its history goes; None when it is."""
    entries = (csv.status, *reversed(fields.parts(csv.status, "conditions")))
    after = takewhile(lambda one: fields.text(one, "phase") != "Succeeded", entries)
    return min(filter(None, (fields.moment(one, "lastTransitionTime") for one in after)), default=None)


def status_of(csv: Csv, now: datetime) -> Status:
    """The status of a ClusterServiceVersion as it was read."""
    return Status(csv.status, now)
