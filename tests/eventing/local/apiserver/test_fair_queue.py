"""Requests of users wait for each other, not for each other's queues."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest

from eventing.local.apiserver.fair_queue import LOOKS, FairQueue

COSTS = {"c": 5.0}
"""What a request of a user takes; of others 1.0."""


class Server:
    """Serves requests that are named by their users, and notes the order; time passes only while one is served."""

    def __init__(self, patience: float = 0.0) -> None:
        self.now = 0.0
        self.order: list[str] = []
        self.queue = FairQueue(lambda: self.now, patience)
        self.during: dict[str, Callable[[], object]] = {}
        """What happens while a request is served."""

    async def request(self, name: str) -> None:
        async with self.queue.turn(name[0]):
            self.order.append(name)
            self.now += COSTS.get(name[0], 1.0)
            self.during.get(name, lambda: None)()

    async def together(self, *names: str, fail: bool = True) -> list[object]:
        return await asyncio.gather(*map(self.request, names), return_exceptions=not fail)

    def play(self, story: Callable[[Server], Awaitable[object]]) -> list[str]:
        async def bounded() -> None:
            async with asyncio.timeout(10):
                await story(self)

        asyncio.run(bounded())
        return self.order


def served(arrivals: Sequence[str]) -> list[str]:
    """Requests that arrive together, in the order in which they are served."""
    return Server().play(lambda server: server.together(*arrivals))


def test_a_single_request_waits_for_one_of_each_other_user() -> None:
    assert served(["a1", "a2", "a3", "a4", "b1"]) == ["a1", "b1", "a2", "a3", "a4"]


def test_users_share_time_and_not_requests() -> None:
    assert served(["c1", "c2", *(f"a{n}" for n in range(7))]) == ["c1", *(f"a{n}" for n in range(5)), "c2", "a5", "a6"]


def test_each_user_is_served_in_the_order_of_arrival() -> None:
    assert served(["a1", "b1", "b2", "a2", "d1", "b3"]) == ["a1", "b1", "d1", "a2", "b2", "b3"]


def test_who_comes_while_another_is_served_comes_before_its_next() -> None:
    server = Server()
    later: list[asyncio.Future[None]] = []
    server.during["a1"] = lambda: later.append(asyncio.ensure_future(server.request("b1")))

    async def story(server: Server) -> None:
        await server.together("a1", "a2", "a3")
        await asyncio.gather(*later)

    assert server.play(story) == ["a1", "b1", "a2", "a3"]


def test_who_was_away_has_saved_up_nothing() -> None:
    async def story(server: Server) -> None:
        busy = [asyncio.ensure_future(server.request(f"a{n}")) for n in range(4)]
        while len(server.order) < 2:
            await asyncio.sleep(0)
        await asyncio.gather(*busy, server.together("b1", "b2", "b3"))

    assert Server().play(story) == ["a0", "a1", "b1", "a2", "b2", "a3", "b3"]


@pytest.mark.parametrize("rounds", range(LOOKS + 4))
def test_a_client_that_disconnects_at_any_moment_holds_nobody(rounds: int) -> None:
    async def story(server: Server) -> None:
        leaving = [asyncio.ensure_future(server.request(name)) for name in ("a1", "b1")]
        staying = [asyncio.ensure_future(server.request(name)) for name in ("a2", "d1")]
        for _ in range(rounds):
            await asyncio.sleep(0)
        for each in leaving:
            each.cancel()
        await asyncio.gather(*leaving, return_exceptions=True)
        await asyncio.gather(*staying, server.request("e1"))

    assert {"a2", "d1", "e1"} <= set(Server().play(story))


def test_a_request_that_fails_holds_nobody() -> None:
    server = Server()
    server.during["a1"] = lambda: 1 / 0

    async def story(server: Server) -> None:
        failed, _ = await server.together("a1", "b1", fail=False)
        assert isinstance(failed, ZeroDivisionError)

    assert server.play(story) == ["a1", "b1"]


def test_what_somebody_used_while_nobody_waited_is_forgotten() -> None:
    async def story(server: Server) -> None:
        for number in range(10):
            await server.request(f"c{number}")
        await pause()
        await server.together("c", *(f"a{n}" for n in range(20)))

    assert Server().play(story)[10] == "c"


def test_users_are_not_kept_for_ever() -> None:
    async def story(server: Server) -> None:
        for number in range(1000):
            async with server.queue.turn(f"user {number}"):
                pass
            await pause()

    server = Server()
    server.play(story)
    assert server.queue._starts == {}


async def pause() -> None:
    """Until the server is idle."""
    for _ in range(LOOKS + 2):
        await asyncio.sleep(0)


def test_who_asks_for_one_thing_after_the_other_is_waited_for_until_it_has_used_as_much() -> None:
    async def story(server: Server) -> None:
        busy = asyncio.ensure_future(server.together("c1", "c2", "c3"))
        for number in range(10):
            await server.request(f"a{number}")
            await pause()
        await busy

    fives = [[f"a{n}" for n in range(first, first + 5)] for first in (0, 5)]
    assert Server(patience=60.0).play(story) == ["a0", "c1", *fives[0][1:], "c2", *fives[1], "c3"]


def test_nobody_waits_long_for_who_does_not_come() -> None:
    async def story(server: Server) -> None:
        await server.together("c1", "c2", "c3", "a1")

    assert Server(patience=0.01).play(story) == ["c1", "a1", "c2", "c3"]
