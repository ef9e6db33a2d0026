"""Saves an incident to a file (`capture`) and runs its decisions again with the present code (`replay`)."""

from __future__ import annotations

from eventing.diagnosis.replay.archive import Capture, NotACapture, NotInCapture, open_capture
from eventing.diagnosis.replay.capturing import capture, present_objects
from eventing.diagnosis.replay.decisions import Replayed, Report, replay, replay_index

__all__ = [
    "Capture", "NotACapture", "NotInCapture", "Replayed", "Report", "capture", "open_capture", "present_objects",
    "replay", "replay_index",
]  # fmt: skip
