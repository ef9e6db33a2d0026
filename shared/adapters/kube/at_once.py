"""Asks for several things at once, in threads.

why threads: the client blocks, and shares its cache and its connections among threads already; while an answer is on
its way, a thread holds neither the interpreter nor a processor. A second, asynchronous client would need both again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

THREADS = 8
"""Of one client, however many runs ask."""
STACK_BYTES = 2 * 1024 * 1024
"""Of each thread; it counts towards the memory of the process. With half of it the JSON of Python 3.13 ends the process
before it refuses a text that is nested too deep."""

T = TypeVar("T")


class AtOnce:
    """Threads that begin when they are first needed."""

    def __init__(self, *, is_needed: bool = True) -> None:
        """No thread begins where none `is_needed`: one call is made after the other."""
        self._is_needed = is_needed
        self._threads: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()

    def ask(self, calls: Sequence[Callable[[], T]]) -> tuple[T, ...]:
        """The results, in the order of the calls; the first error is raised when all have ended.

        The calling thread makes the first call itself.
        """
        if len(calls) < 2 or not self._is_needed:
            return tuple(ask() for ask in calls)
        first, *others = calls
        threads = self._started()
        asked = [threads.submit(copy_context().run, ask) for ask in others]
        try:
            result = first()
        finally:
            for one in asked:
                one.exception()
        return (result, *(one.result() for one in asked))

    def close(self) -> None:
        """End the threads."""
        if self._threads is not None:
            self._threads.shutdown()

    def _started(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._threads is None:
                before = threading.stack_size(STACK_BYTES)
                self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="at-once")
                ready = threading.Barrier(THREADS)
                for one in [self._threads.submit(ready.wait) for _ in range(THREADS)]:
                    one.result()  # why: a thread begins with its first question, and has the stack of that moment
                threading.stack_size(before)
            return self._threads
