"""Parses and prints durations in Go's format (`1h30m`, `250ms`), with Go's error messages."""

from __future__ import annotations

import re
from datetime import timedelta

_UNITS = {
    "ns": timedelta(microseconds=0.001),
    "us": timedelta(microseconds=1),
    "µs": timedelta(microseconds=1),
    "μs": timedelta(microseconds=1),
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)([^\d.]*)")


def parse(text: str) -> timedelta:
    """The duration in a text. ValueError with Go's message when the text is not a valid duration."""
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if rest == "0":
        return timedelta()
    total, position = timedelta(), 0
    for part in _PART.finditer(rest):
        if part.start() != position:
            break
        number, unit = part.groups()
        if not unit:
            raise ValueError(f'time: missing unit in duration "{text}"')
        if unit not in _UNITS:
            raise ValueError(f'time: unknown unit "{unit}" in duration "{text}"')
        total += float(number) * _UNITS[unit] if unit != "ns" else timedelta(microseconds=float(number) / 1000)
        position = part.end()
    if not position or position != len(rest):
        raise ValueError(f'time: invalid duration "{text}"')
    return sign * total


def show(duration: timedelta) -> str:
    """The duration as Go prints it, to the second: `15m0s`."""
    seconds = int(duration.total_seconds())
    hours, minutes = seconds // 3600, seconds % 3600 // 60
    if hours:
        return f"{hours}h{minutes}m{seconds % 60}s"
    return f"{minutes}m{seconds % 60}s" if minutes else f"{seconds}s"
