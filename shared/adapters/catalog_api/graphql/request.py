"""What is sent to the process of a query, and what comes before its answer."""

from __future__ import annotations

from typing import Final

import msgspec


class Request(msgspec.Struct):
    """A query, the catalog that it is about, and what its answer may take."""

    query: str
    lines: str
    """The file of the documents."""
    fields: str
    """The file of what is known of their fields."""
    memory: int
    """Bytes."""
    seconds: float


BEGUN: Final = b"."
"""Comes first: the process is there."""
ANSWERED: Final = b"="
FAILED: Final = b"!"
"""Before the reason why there is no answer."""
