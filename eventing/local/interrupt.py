"""Ctrl-C as a question asked between two acts, not as an exception in the midst of one."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Self


class Interrupt:
    """Notes SIGINT and SIGTERM while it is entered; `check` raises for them where it is safe.

    An exception out of a signal handler may fall between the start of a process and the line that remembers it, or
    into the import of a module, which turns it into another error.
    """

    def __init__(self) -> None:
        self.number = 0
        """The signal that came, 0 before."""

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def check(self) -> None:
        """KeyboardInterrupt if one of the signals came."""
        if self.number:
            raise KeyboardInterrupt

    def _note(self, number: int, _: FrameType | None) -> None:
        self.number = number
