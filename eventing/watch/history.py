"""What events told of a kind before: a list that is older says that the API server was restored from a backup.

After that all that follows from later versions is wrong: which versions were told of, which answers are still good, and
from where a watch goes on. The next list tells the truth, and everything before it is forgotten.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import Protocol, TypeVar

import structlog

from eventing.workqueue import is_temporary
from shared.adapters.kube.answers import Changes
from shared.kinds import Kind

PAUSE_SECONDS = 1.0
_T = TypeVar("_T")
log = structlog.get_logger()


class History(Protocol):
    """What events told of one kind before, in this process and others."""

    async def newest(self) -> str:
        """The newest resourceVersion that an event told of; empty when there is none."""
        ...

    async def forget(self) -> None:
        """Forget all of it."""
        ...


class NoHistory:
    """Of a watch whose results nobody keeps."""

    async def newest(self) -> str:
        """Nothing."""
        return ""

    async def forget(self) -> None:
        """There is nothing to forget."""


class EventHistory:
    """What the events of a kind told in Redis; waits while Redis is away."""

    def __init__(self, changes: Changes, kind: Kind, thread: Executor) -> None:
        """`thread` is where Redis is asked."""
        self._changes = changes
        self._kind = kind
        self._thread = thread

    async def newest(self) -> str:
        """The newest resourceVersion of all namespaces."""
        return await self._asked(lambda: self._changes.counts([(self._kind, "")])[0].newest)

    async def forget(self) -> None:
        """The next events tell of everything anew."""
        log.warning("history_forgotten", kind=self._kind.definition, reason="the API server has an older state")
        await self._asked(partial(self._changes.forget, self._kind))

    async def _asked(self, ask: Callable[[], _T]) -> _T:
        while True:
            try:
                return await asyncio.get_running_loop().run_in_executor(self._thread, ask)
            except Exception as error:
                if not (is_temporary(error) or isinstance(error, OSError)):
                    raise
                log.warning("history_unknown", kind=self._kind.definition, error=f"{type(error).__name__}: {error}")
            await asyncio.sleep(PAUSE_SECONDS)
