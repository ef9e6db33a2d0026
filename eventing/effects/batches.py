"""Batches of writes: each write of one is tried although others of it are refused."""

from __future__ import annotations

from collections.abc import Sequence

from eventing.effects.written import Performed
from shared.ports import WriteFailure
from shared.step import Apply, Create, Delete, Merge, Try, Write


def batch_of(write: Write) -> int:
    """The batch that a write is part of; 0: of none."""
    return write.batch if isinstance(write, Create | Apply | Try | Merge | Delete) else 0


def goes_on(failure: WriteFailure, write: Write) -> bool:
    """Whether a write is tried although the one before was refused: not by a server that serves nobody."""
    return failure.batch != 0 and failure.batch == batch_of(write) and failure.kind != "unavailable"


def failed(failures: Sequence[WriteFailure]) -> Performed:
    """What was refused, before what only met another version: that is looked at again with the rest."""
    first = next((one for one in failures if one.kind != "conflict"), failures[0])
    return Performed(failure=first, others=tuple(one for one in failures if one is not first))
