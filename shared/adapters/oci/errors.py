"""Why an image could not be had: one error, which a port answers as `Unavailable`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from shared.ports import Unavailable, UnavailableReason


@dataclass(eq=False)
class OciError(Exception):
    """An image that could not be had; `message` says what was seen and what to do next."""

    reason: UnavailableReason
    message: str

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"

    def unavailable(self) -> Unavailable:
        """The same as the answer of a port."""
        return Unavailable(self.reason, self.message, _AFTER.get(self.reason, timedelta(0)))


SLOW_SECONDS: Final = 60
"""How long a host that was slow, or dead, is not asked."""
_AFTER: Final[Mapping[str, timedelta]] = {
    "TimedOut": timedelta(seconds=SLOW_SECONDS),
    "Blocked": timedelta(minutes=5),  # only an administrator can help
}
