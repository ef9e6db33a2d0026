"""While the API server is away one probe asks for all watches, in a clock that does not wait."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from eventing.watch.outage import PROBE_SECONDS, SPREAD_SECONDS, Outage
from tests.kit.virtual_time import run


class Server:
    """Answers as it is told: serves or not, or (None) not at all."""

    def __init__(self, answers: Sequence[bool | None]) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def __call__(self) -> bool:
        self.asked += 1
        answer = self.answers.pop(0)
        if answer is None:
            await asyncio.Event().wait()
        return bool(answer)


async def waited(server: Server, watches: int = 1) -> float:
    """How long that many watches wait for the end of the outage, in seconds."""
    loop, outage = asyncio.get_running_loop(), Outage(server)
    began = loop.time()
    await asyncio.gather(*(outage.over() for _ in range(watches)))
    return loop.time() - began


@pytest.mark.parametrize(
    ("answers", "seconds"),
    [
        pytest.param([False, True], PROBE_SECONDS, id="it refuses once"),
        pytest.param([False, False, True], 2 * PROBE_SECONDS, id="it refuses twice"),
        pytest.param([None, True], 2 * PROBE_SECONDS, id="it does not answer, and then it does"),
    ],
)
def test_all_watches_go_on_soon_after_the_server_answers(answers: list[bool | None], seconds: float) -> None:
    server = Server(answers)
    assert seconds <= run(waited(server, 20)) <= seconds + SPREAD_SECONDS
    assert server.asked == len(answers), "one probe asks for all"


def test_without_an_outage_nobody_is_woken() -> None:
    async def reported() -> bool:
        try:
            await asyncio.wait_for(waited(Server([True])), 60)
        except TimeoutError:
            return False
        return True

    assert run(reported()) is False


def test_a_probe_that_fails_wakes_nobody() -> None:
    async def broken() -> bool:
        raise OSError("no route")

    async def reported() -> str:
        outage = Outage(broken)
        try:
            await asyncio.wait_for(outage.over(), 60)
        except TimeoutError:
            return "never"
        return "over"

    assert run(reported()) == "never"
