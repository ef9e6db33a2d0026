"""Requests of users wait for each other, not for each other's queues."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from eventing.local.apiserver.fair_queue import FairQueue


def served(arrivals: Sequence[str], leaving: Sequence[int] = ()) -> list[str]:
    """The requests in the order in which they are served; those of `leaving` disconnect at once."""

    async def run() -> list[str]:
        queue, order = FairQueue(), []

        async def request(name: str) -> None:
            await queue.turn(name[0])
            order.append(name)

        tasks = [asyncio.create_task(request(name)) for name in arrivals]
        await asyncio.sleep(0)
        for index in leaving:
            tasks[index].cancel()
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10)
        return order

    return asyncio.run(run())


def test_a_single_request_waits_for_one_of_each_other_user() -> None:
    assert served(["a1", "a2", "a3", "a4", "b1"]) == ["a1", "b1", "a2", "a3", "a4"]


def test_each_user_is_served_in_the_order_of_arrival() -> None:
    assert served(["a1", "b1", "b2", "a2", "c1", "b3"]) == ["a1", "b1", "c1", "a2", "b2", "b3"]


def test_a_client_that_disconnects_while_it_waits_holds_nobody() -> None:
    assert served(["a1", "b1", "a2", "b2"], leaving=[1, 2]) == ["a1", "b2"]


def test_a_queue_that_was_empty_serves_again() -> None:
    async def twice() -> int:
        queue = FairQueue()
        await asyncio.wait_for(queue.turn("a"), 10)
        await asyncio.sleep(0)
        await asyncio.wait_for(queue.turn("a"), 10)
        return 2

    assert asyncio.run(twice()) == 2


def test_whoever_comes_while_others_wait_comes_after_one_of_each() -> None:
    async def run() -> list[str]:
        queue, order = FairQueue(), []

        async def request(name: str, then: str = "") -> None:
            await queue.turn(name[0])
            order.append(name)
            if then:
                await request(then)

        await asyncio.gather(request("a1"), request("a2"), request("a3"), request("b1", then="b2"))
        return order

    assert asyncio.run(run()) == ["a1", "b1", "a2", "b2", "a3"]
