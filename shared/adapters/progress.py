"""Reports the progress of long work to a listener, if one was set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

Listener: TypeAlias = Callable[[str, int, str], None]
"""Receives the arguments of `advanced`."""

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
        listener(what, size, things)


def ended() -> None:
    """Report that the work is done, before other output follows."""
    advanced("", 0)
