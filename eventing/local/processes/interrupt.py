"""Delays the signals that end a program until the code checks for them, instead of raising at any line."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Self


def ending_signals() -> tuple[signal.Signals, ...]:
    """SIGINT, SIGTERM, and the SIGHUP of a closed terminal unless `nohup` made us ignore it."""
    is_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return (signal.SIGINT, signal.SIGTERM, *(() if is_ignored else (signal.SIGHUP,)))


class Interrupt:
    """Stores such a signal while it is entered; `check` raises KeyboardInterrupt for it.

    An exception from a signal handler could be raised between the start of a process and the line that stores it, or
    inside the import of a module, which turns it into another error.
    """

    def __init__(self) -> None:
        self.number = 0
        """The received signal, or 0."""

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._note) for number in ending_signals()}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def check(self) -> None:
        """Raise KeyboardInterrupt if one of the signals was received."""
        if self.number:
            raise KeyboardInterrupt

    def _note(self, number: int, _: FrameType | None) -> None:
        self.number = number
