"""Reports the progress of long work to a listener, if one was set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from shared.domain.progress import Progress


class Listener(Protocol):
    """Hears how far some work is."""

    def advance(self, what: str, size: int, things: str, /) -> None:
        """Receive the arguments of `advanced`."""
        ...

    def expect(self, size: int, layers: int, /) -> None:
        """Receive the arguments of `expected`."""
        ...

    def complete(self) -> None:
        """One of these layers was read to its end."""
        ...


_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener: Listener | None) -> Iterator[None]:
    """Report the progress of the work in this block to a listener; None: to none."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def advanced(what: str, size: int, things: str = "") -> None:
    """Report that `size` more bytes are done of some work, e.g. "reading", and one more of `things`, e.g. "files"."""
    if (listener := _listener.get()) is not None:
        listener.advance(what, size, things)


def expected(size: int, layers: int) -> None:
    """Report that an image has so many layers, of so many bytes together."""
    if (listener := _listener.get()) is not None:
        listener.expect(size, layers)


def completed() -> None:
    """Report that one of these layers was read to its end."""
    if (listener := _listener.get()) is not None:
        listener.complete()


def ended() -> None:
    """Report that the work is done, before other output follows."""
    advanced("", 0)


_PULLING = frozenset(("downloading", "unpacking"))


@dataclass(slots=True)
class Tally:
    """Adds up what one run reports; another thread may ask it at any time."""

    what: str = ""
    size: int = 0
    size_total: int = 0
    layers: int = 0
    layers_total: int = 0
    indexed: int = 0

    def advance(self, what: str, size: int, _: str) -> None:
        """Implements `Listener`."""
        self.what = what or self.what
        self.size += size if what == "downloading" else 0
        self.indexed += what == "indexing"

    def expect(self, size: int, layers: int) -> None:
        """Implements `Listener`."""
        self.what, self.size, self.size_total, self.layers, self.layers_total = "downloading", 0, size, 0, layers

    def complete(self) -> None:
        """Implements `Listener`."""
        self.layers += 1

    def progress(self, attempt: int, seconds: float, limit_seconds: int) -> Progress:
        """What was reported so far, with what its caller knows of the run."""
        phase = "pulling" if self.what in _PULLING else "indexing" if self.what else ""
        return Progress(
            attempt, round(seconds), limit_seconds, phase, min(self.size, self.size_total), self.size_total,
            self.layers, self.layers_total, self.indexed,
        )  # fmt: skip
