"""Parses and prints durations in Go's format (`1h30m`, `250ms`), with Go's error messages, and ages as kubectl does."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import Decimal

_UNITS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
"""In nanoseconds."""
_LONGEST = 2**63 - 1
"""Nanoseconds that Go has room for; one more below zero."""
_BEYOND = Decimal(_LONGEST + 2)
"""Any longer number counts as this one."""
_PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([^0-9.]*)")


def parse(text: str) -> timedelta:
    """The duration in a text. ValueError with Go's message when the text is not a valid duration."""
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if rest == "0":
        return timedelta()
    total, position = 0, 0
    for part in _PART.finditer(rest):
        if part.start() != position:
            break
        number, unit = part.groups()
        if not unit:
            raise ValueError(f'time: missing unit in duration "{text}"')
        if unit not in _UNITS:
            raise ValueError(f'time: unknown unit "{unit}" in duration "{text}"')
        total += int(min(Decimal(number), _BEYOND) * _UNITS[unit])
        if total > _LONGEST + (sign < 0):
            break
        position = part.end()
    if not position or position != len(rest):
        raise ValueError(f'time: invalid duration "{text}"')
    return sign * timedelta(microseconds=total // 1000)


def show(duration: timedelta) -> str:
    """The duration as Go prints it, to the second: `15m0s`."""
    seconds = int(duration.total_seconds())
    hours, minutes = seconds // 3600, seconds % 3600 // 60
    if hours:
        return f"{hours}h{minutes}m{seconds % 60}s"
    return f"{minutes}m{seconds % 60}s" if minutes else f"{seconds}s"


def age(created: object, now: datetime) -> str:
    """The age since a creation time, as tables of the API show it; `<unknown>` without one."""
    if not created:
        return "<unknown>"
    return in_two_units(int((now - datetime.fromisoformat(str(created))).total_seconds()))


def in_two_units(seconds: int) -> str:
    """A duration of whole seconds in at most two units: `10m`, `9m59s`, `2d3h`."""
    if seconds < 120:
        return f"{max(seconds, 0)}s"
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    for whole, limit, unit, part, small in (
        (minutes, 10, "m", seconds % 60, "s"),
        (minutes, 180, "m", 0, ""),
        (hours, 8, "h", minutes % 60, "m"),
        (hours, 48, "h", 0, ""),
        (days, 8, "d", hours % 24, "h"),
    ):
        if whole < limit:
            return f"{whole}{unit}{part}{small}" if part else f"{whole}{unit}"
    return f"{days}d" if days < 730 else f"{days // 365}y"
