"""What is worth an Event about a ClusterExtension: that a bundle is installed, or that nothing goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from shared.api.manifest import ReadOnly
from shared.api.views import ClusterExtension

_LONGEST: Final = 1000
"""Characters of a message; the condition has all of it."""
_TERMINAL: Final = ("Blocked", "InvalidConfiguration", "ProgressDeadlineExceeded")
"""Reasons for which `Progressing` is False: nothing goes on by itself."""


@dataclass(frozen=True, slots=True)
class Notice:
    """An Event, and whether the world outside is notified, too."""

    severity: Literal["Normal", "Warning"]
    reason: str
    message: str
    notified: Literal["", "Installed", "Failed"] = ""


def notice_of(extension: ClusterExtension, status: ReadOnly) -> Notice | None:
    """What a new status says that the present one does not."""
    after = ClusterExtension({"status": status})
    progressing, installed = after.condition("Progressing"), after.condition("Installed")
    is_done = progressing.reason == "Succeeded" and installed.is_true
    before = extension.condition("Progressing")
    if is_done and (before.reason != "Succeeded" or extension.condition("Installed").message != installed.message):
        return Notice("Normal", "Installed", _cut(installed.message), "Installed")
    reason = progressing.reason
    if reason in (*_TERMINAL, "Retrying") and reason != before.reason:
        return Notice("Warning", reason, _cut(progressing.message), "Failed" if reason in _TERMINAL else "")
    return None


def _cut(message: str) -> str:
    return message if len(message) <= _LONGEST else f"{message[:_LONGEST]}…"
