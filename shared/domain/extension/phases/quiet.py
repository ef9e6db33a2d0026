"""The first seconds of a roll-out, in which nobody is told what it waits for."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

QUIET: Final = timedelta(seconds=3)
"""What is younger waits for another object at each look, and most end before anybody could read it."""


def quiet_left(created: datetime | None, now: datetime) -> timedelta | None:
    """What is left of these seconds for an object that was created then; None when they are over, or yet to come."""
    left = created + QUIET - now if created else timedelta()
    return left if timedelta() < left <= QUIET else None
