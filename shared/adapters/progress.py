"""How far long work is, for whoever wants to know: nobody, unless a listener was set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

Listener: TypeAlias = Callable[[str, int, str], None]
"""Takes what `advanced` is given."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener: Listener | None) -> Iterator[None]:
    """Tell a listener of the work in this block; None: nobody."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def advanced(what: str, size: int, things: str = "") -> None:
    """So many bytes more are done of some work, e.g. "reading"; `things` is what one more of was done, e.g. "files"."""
    if (listener := _listener.get()) is not None:
        listener(what, size, things)


def ended() -> None:
    """The work is done, and other things are about to be told."""
    advanced("", 0)
