"""Tells on stderr how far long work is: only to a terminal, only when it takes long enough to wonder."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Protocol

_QUIET_SECONDS: Final = 0.5
"""Work that ends sooner is not told of."""
_PAUSE_SECONDS: Final = 0.1
_MEGABYTE: Final = 1_000_000
_ERASE: Final = "\r\x1b[K"


class Screen(Protocol):
    """Where progress is shown."""

    def isatty(self) -> bool:
        """Whether somebody looks."""
        ...

    def write(self, text: str, /) -> object:
        """Show a text."""
        ...

    def flush(self) -> object:
        """Show it now."""
        ...


def told(
    files: Iterable[tuple[str, bytes]],
    what: str,
    *,
    screen: Screen | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[tuple[str, bytes]]:
    """The files as they are; meanwhile a line says how many, how many bytes, and how fast."""
    where = screen or sys.stderr
    if not where.isatty():
        yield from files
        return
    start = shown = clock()
    count = size = 0
    try:
        for name, content in files:
            count, size, now = count + 1, size + len(content), clock()
            if now - start >= _QUIET_SECONDS and now - shown >= _PAUSE_SECONDS:
                shown = now
                rate = size / (now - start) / _MEGABYTE
                where.write(f"{_ERASE}{what}: {count} files, {size / _MEGABYTE:.0f} MB, {rate:.0f} MB/s")
                where.flush()
            yield name, content
    finally:
        if shown > start:
            where.write(_ERASE)
            where.flush()
