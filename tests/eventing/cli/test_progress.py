from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

import pytest

from eventing.cli.progress import told


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def ticks(seconds: float) -> Iterator[float]:
    now = 0.0
    while True:
        yield now
        now += seconds


@pytest.mark.parametrize(
    ("seconds", "screen", "lines"),
    [
        pytest.param(1.0, Terminal(), ["reading x: 1 files, 3 MB, 3 MB/s", "reading x: 2 files, 6 MB, 3 MB/s", ""],
                     id="issue 4 §4: bytes and rate"),
        pytest.param(0.1, Terminal(), [], id="short work is not told of"),
        pytest.param(1.0, StringIO(), [], id="issue 4 §4: nobody is told through a pipe"),
    ],
)  # fmt: skip
def test_long_work_is_told_of(seconds: float, screen: StringIO, lines: list[str]) -> None:
    files = [("a", b"x" * 3_000_000), ("b", b"x" * 3_000_000)]
    clock = ticks(seconds)
    assert list(told(files, "reading x", screen=screen, clock=lambda: next(clock))) == files
    assert screen.getvalue().split("\r\x1b[K")[1:] == lines


def test_the_line_goes_when_the_work_breaks_off() -> None:
    screen, clock = Terminal(), ticks(1.0)
    reading = told([("a", b""), ("b", b"")], "reading", screen=screen, clock=lambda: next(clock))
    next(reading)
    reading.close()  # type: ignore[attr-defined]  # why: a generator
    assert screen.getvalue().endswith("\r\x1b[K")
