"""The status of a ClusterServiceVersion: sets phases and keeps their history (csv.md §2.2–2.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from shared.api.manifest import Manifest, ReadOnly, instant, timestamp

Phase = Literal["", "Pending", "InstallReady", "Installing", "Succeeded", "Failed", "Replacing", "Deleting"]

HISTORY: Final = 20
"""Maximum number of conditions."""

_FIRST_PAUSE: Final = timedelta(seconds=5)
_LONGEST_PAUSE: Final = timedelta(minutes=5)
_RECENT: Final = timedelta(minutes=15)


NO_RETRY: Final = "InstallComponentFailedNoRetry"


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
        return str(self.manifest.get("phase") or "")

    @property
    def reason(self) -> str:
        """The reason of the present phase, one word."""
        return str(self.manifest.get("reason") or "")

    @property
    def message(self) -> str:
        """The message of the present phase, for people."""
        return str(self.manifest.get("message") or "")

    @property
    def since(self) -> datetime:
        """When the present phase began."""
        return instant(self.manifest.get("lastTransitionTime")) or self.now

    def to(self, phase: Phase, reason: str, message: str) -> Status:
        """The status in another phase, with a notice; unchanged when phase, reason and message are the same."""
        if (phase, reason, message) == (self.phase, self.reason, self.message):
            return self
        now = timestamp(self.now)
        began = now if phase != self.phase else self.manifest.get("lastTransitionTime") or now
        entry: Manifest = {
            "phase": phase,
            "reason": reason,
            "message": message,
            "lastUpdateTime": now,
            "lastTransitionTime": began,
        }
        manifest = {**self.manifest, **entry, "conditions": _with(self.manifest.get("conditions") or (), entry)}
        notice = Notice("Warning" if phase == "Failed" else "Normal", reason, message)
        return replace(self, manifest=manifest, notices=(*self.notices, notice))

    def requiring(self, requirements: Sequence[ReadOnly]) -> Status:
        """The status with the given `requirementStatus`."""
        return replace(self, manifest={**self.manifest, "requirementStatus": list(requirements)})


def _with(history: Sequence[ReadOnly], entry: ReadOnly) -> list[ReadOnly]:
    """The history with the new entry; an entry with the same phase and reason as the last is not added."""
    last = history[-1] if history else {}
    if (last.get("phase") or "", last.get("reason")) == (entry["phase"], entry["reason"]):
        return list(history)
    return [*history, entry][-HISTORY:]


def pause_left(status: Status, *, free: int) -> timedelta:
    """How long a failed version still waits before the next attempt: the pause doubles with each recent failure.

    The first `free` failures need no pause.
    """
    history = status.manifest.get("conditions") or ()
    moments = (instant(entry.get("lastUpdateTime")) for entry in history if entry.get("phase") == "Failed")
    failures = sum(moment is not None and status.now - moment <= _RECENT for moment in moments)
    pause = min(_FIRST_PAUSE * 2 ** (failures - free - 1), _LONGEST_PAUSE) if failures > free else timedelta()
    return max(status.since + pause - status.now, timedelta())


def status_of(csv: ReadOnly, now: datetime) -> Status:
    """The status of a ClusterServiceVersion as it was read."""
    return Status(csv.get("status") or {}, now)
