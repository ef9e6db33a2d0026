"""Points in time as JSON Schema wants them written."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

_SHORTEST: Final = 20
_TIME: Final = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?(?:[zZ]|([+-])([0-9]{2}):([0-9]{2}))")


def time_problem(text: str) -> str:
    """What is wrong with a `date-time`; empty when nothing is."""
    if len(text.encode()) < _SHORTEST:
        return f"less than {_SHORTEST} characters long"
    if text[10] not in "tT":
        return "11th character must be t or T"
    try:
        date.fromisoformat(text[:10])
    except ValueError:
        return f'invalid date element: parsing time "{text[:10]}" as "2006-01-02"'
    match = _TIME.fullmatch(text[11:])
    if match is None:
        return "invalid time element: missing colon in correct place"
    hour, minute, second = (int(match[number]) for number in (1, 2, 3))
    is_leap = second > 59 and (hour, minute) != (23, 59)
    if hour > 23 or minute > 59 or second > 60 or is_leap:
        return "invalid time element: hour/min/sec out of range"
    return ""
