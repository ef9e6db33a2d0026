"""One probe for all watches: while the API server is away it alone asks, and when it answers all watches go on."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

PROBE_SECONDS = 1.0
"""Interval of the probe, and how long it waits for an answer."""
SPREAD_SECONDS = 0.5
"""The watches go on within this time, and not all at once."""


class Outage:
    """Tells the watches when the API server answers again."""

    def __init__(self, answers: Callable[[], Awaitable[bool]]) -> None:
        """`answers` asks the API server once, whether it serves."""
        self._answers = answers
        self._probing: asyncio.Task[bool] | None = None

    async def over(self) -> None:
        """Return soon after the end of the outage; never when there is none: then a watch has a trouble of its own."""
        if self._probing is None or self._probing.done():
            self._probing = asyncio.create_task(self._probe(), name="probe of the API server")
        await asyncio.wait((self._probing,))
        if self._probing.cancelled() or self._probing.exception() or not self._probing.result():
            await asyncio.Event().wait()
        await asyncio.sleep(random.uniform(0, SPREAD_SECONDS))  # noqa: S311  # jitter

    async def _probe(self) -> bool:
        """Ask until the server answers; whether it was away at first."""
        was_away = False
        while not await self._asked():
            was_away = True
            await asyncio.sleep(PROBE_SECONDS)
        return was_away

    async def _asked(self) -> bool:
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                return await self._answers()
        except TimeoutError:
            return False


def no_outage() -> Outage:
    """For a watch without a probe."""

    async def answers() -> bool:
        return True

    return Outage(answers)
