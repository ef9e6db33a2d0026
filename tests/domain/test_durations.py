"""Durations as Go writes them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.durations import age, parse, show


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("45m", timedelta(minutes=45), id="minutes"),
        pytest.param("1h30m", timedelta(minutes=90), id="several units"),
        pytest.param("1.5s", timedelta(seconds=1.5), id="a fraction"),
        pytest.param("250ms", timedelta(milliseconds=250), id="milliseconds"),
        pytest.param("1500000ns", timedelta(milliseconds=1.5), id="nanoseconds"),
        pytest.param("-1m", timedelta(minutes=-1), id="negative"),
        pytest.param("0", timedelta(), id="zero needs no unit"),
        pytest.param("2562047h47m16.854775807s", timedelta(microseconds=9223372036854775), id="the longest"),
        pytest.param("-9223372036854775808ns", timedelta(microseconds=-9223372036854775), id="the shortest"),
        pytest.param(f"0.{'3' * 5000}h", timedelta(minutes=20), id="many digits"),
    ],
)
def test_a_duration(text: str, want: timedelta) -> None:
    assert parse(text) == want


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", 'time: invalid duration ""', id="nothing"),
        pytest.param("invalid", 'time: invalid duration "invalid"', id="no number"),
        pytest.param("1h?5m", 'time: unknown unit "h?" in duration "1h?5m"', id="something between"),
        pytest.param("1h..5m", 'time: invalid duration "1h..5m"', id="two dots"),
        pytest.param("m5s", 'time: invalid duration "m5s"', id="a unit first"),
        pytest.param("9223372036854775808ns", 'time: invalid duration "9223372036854775808ns"', id="too long for Go"),
        pytest.param("-2562048h", 'time: invalid duration "-2562048h"', id="too far below zero"),
        pytest.param("2000000h2000000h1x", 'time: invalid duration "2000000h2000000h1x"', id="too long before a unit"),
        pytest.param("99999999999h", 'time: invalid duration "99999999999h"', id="too long for Python"),
        pytest.param("9" * 5000 + "h", f'time: invalid duration "{"9" * 5000}h"', id="too long for a number"),
        pytest.param("٣m", 'time: invalid duration "٣m"', id="digits of another script"),
        pytest.param("5", 'time: missing unit in duration "5"', id="no unit"),
        pytest.param(
            "45mError.code", 'time: unknown unit "mError" in duration "45mError.code"', id="catalog.md 8.3.41: bad unit"
        ),
    ],
)
def test_no_duration(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="time: ") as error:
        parse(text)
    assert str(error.value) == message


@pytest.mark.parametrize(("seconds", "want"), [(900, "15m0s"), (5400, "1h30m0s"), (9, "9s")])
def test_shown_as_go_does(seconds: int, want: str) -> None:
    assert show(timedelta(seconds=seconds)) == want


NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("created", "shown"),
    [
        ("2025-12-31T23:59:00Z", "60s"),
        ("2026-01-01T00:01:00Z", "0s"),
        ("2025-12-31T23:55:30Z", "4m30s"),
        ("2025-12-31T22:30:00Z", "90m"),
        ("2025-12-31T19:30:00Z", "4h30m"),
        ("2025-12-30T12:00:00Z", "36h"),
        ("2025-12-28T12:00:00Z", "3d12h"),
        ("2025-12-01T00:00:00Z", "31d"),
        ("2023-01-01T00:00:00Z", "3y"),
        ("", "<unknown>"),
        (None, "<unknown>"),
    ],
)
def test_ages(created: object, shown: str) -> None:
    assert age(created, NOW) == shown
