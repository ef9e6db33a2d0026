"""The real clock."""

from __future__ import annotations

from datetime import UTC, datetime


class SystemClock:
    """Time of this machine, UTC, in whole seconds; implements `Clock`."""

    def now(self) -> datetime:
        """The present instant."""
        return datetime.now(UTC).replace(microsecond=0)
