"""The target of a write, its result, and the kinds of refusals of the API server."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from shared.adapters.kube import ApiError
from shared.ports import FailureKind, WriteFailure
from shared.step import Apply, Create, Delete, Merge, Record, Ref, Replace, SetStatus, StoreKeys, Try, Write

_BY_STATUS: dict[int, FailureKind] = {
    400: "invalid",
    403: "forbidden",
    404: "gone",
    405: "invalid",
    409: "conflict",
    410: "gone",
    413: "invalid",
    415: "invalid",
    422: "invalid",
}
_UID_PRECONDITION = re.compile(r"\bUID in (?:the )?precondition\b")
"""The message of API servers about another uid: the first form when they read, the second when they write."""


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


def kind_of(error: ApiError) -> FailureKind:
    """The kind of a refusal; a status that is not in the table (no answer, 429, 5xx) may go away by itself.

    So may 401: our token is being rotated, or the server does not yet know who signs it. What an account lacks is 403.
    """
    if error.is_unanswered:
        return "unanswered"
    return _BY_STATUS.get(error.status, "unavailable")


def is_of_another_object(error: ApiError) -> bool:
    """Whether a precondition on the uid failed: the object is gone, and another one has its name."""
    return error.is_conflict and bool(_UID_PRECONDITION.search(error.message))


def target(write: Write) -> Ref:
    """The ref of the object that a write changes."""
    match write:
        case Create() | Apply() | Try() | Replace() | StoreKeys():
            return Ref.of(write.manifest)
        case Merge() | SetStatus() | Delete() | Record():
            return write.ref
