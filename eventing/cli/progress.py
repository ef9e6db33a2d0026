"""Tells on stderr how far long work is: only to a terminal, only when it takes long enough to wonder."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Protocol

from eventing.cli.visible import Own
from shared.adapters.progress import heard_by

_QUIET_SECONDS: Final = 0.5
"""Work that ends sooner is not told of."""
_PAUSE_SECONDS: Final = 0.1
_MEGABYTE: Final = 1_000_000
_ERASE: Final = "\r\x1b[K"


class Terminal(Protocol):
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


@contextmanager
def shown(terminal: Terminal | None = None, clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """While the block runs, a line says what is done, how much of it, and how fast."""
    where: Terminal = terminal or Own(sys.stderr)
    if not where.isatty():
        yield
        return
    line = _Line(where, clock)
    with heard_by(line):
        try:
            yield
        finally:
            line.erase()


@dataclass(slots=True)
class _Line:
    """The line, written again and again; several threads may tell of their work."""

    terminal: Terminal
    clock: Callable[[], float]
    what: str = ""
    count: int = 0
    size: int = 0
    start: float = 0.0
    written_at: float = 0.0
    is_written: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def advance(self, what: str, size: int, things: str) -> None:
        """One piece more; another kind of work is counted anew, and none ends the line."""
        with self.lock:
            if what != self.what:
                self.erase()
                self.what, self.count, self.size, self.start = what, 0, 0, self.clock()
            self._count(size, things)

    def expect(self, size: int, layers: int) -> None:
        """What is to come is not shown."""

    def complete(self) -> None:
        """Layers are not counted."""

    def _count(self, size: int, things: str) -> None:
        self.count, self.size, now = self.count + 1, self.size + size, self.clock()
        if self.what and now - self.start >= _QUIET_SECONDS and now - self.written_at >= _PAUSE_SECONDS:
            counted = f"{self.count} {things}, " if things else ""
            rate = self.size / (now - self.start) / _MEGABYTE
            self.terminal.write(f"{_ERASE}{self.what}: {counted}{self.size / _MEGABYTE:.0f} MB, {rate:.0f} MB/s")
            self.terminal.flush()
            self.written_at, self.is_written = now, True

    def erase(self) -> None:
        """Take the line away, if there is one."""
        if self.is_written:
            self.terminal.write(_ERASE)
            self.terminal.flush()
            self.is_written = False
