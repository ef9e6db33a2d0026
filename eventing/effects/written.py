"""What became of the writes of one decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shared.ports import WriteFailure


@dataclass(frozen=True, slots=True)
class Written:
    """The result of one write."""

    did: Literal["", "sent", "tried", "same", "exists", "absent", "refused"]
    """`tried`: a dry run that was not refused; `same`: not sent, it would change nothing; `exists`, `absent`: this was
    already the state on the server; empty: not tried."""
    uid: str = ""
    resource_version: str = ""
    status: int = 0
    """The HTTP status of a refused write."""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Performed:
    """The results of the writes of one decision, in their order, up to the last that was tried."""

    written: tuple[Written, ...] = ()
    failure: WriteFailure | None = None
    others: tuple[WriteFailure, ...] = ()
    """Refused beside it: writes of the same batch."""
    is_lost: bool = False
    """The lease was lost before a write: no further write is allowed."""
    is_partial: bool = False
    """Only a part of the writes was sent; the step must run again for the rest."""
    warned: int = 0
    """How many of them were answered with warnings that an Event tells of."""

    @property
    def is_complete(self) -> bool:
        """Whether every write was tried, and only Records were refused."""
        return self.failure is None and not self.is_lost and not self.is_partial
