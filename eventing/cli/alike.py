"""What a person may have meant by a name that is not there."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def alike(name: str, known: Iterable[str]) -> str:
    """The names that are similar, as the end of a sentence: `; called alike: …`; empty without any."""
    found = get_close_matches(name, sorted(set(known)))
    return f"; called alike: {', '.join(found)}" if found else ""
