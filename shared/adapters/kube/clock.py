"""The real clock."""

from __future__ import annotations

from datetime import UTC, datetime


class SystemClock:
    """The clock of this machine, in UTC and whole seconds; implements `Clock`."""

    def now(self) -> datetime:
        """The current time."""
        return datetime.now(UTC).replace(microsecond=0)
