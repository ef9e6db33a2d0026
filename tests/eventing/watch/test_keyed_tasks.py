"""One task for each object: started, ended and limited, and started again when it has failed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from eventing.watch.keyed_tasks import KeyedTasks
from eventing.watch.namespaced import Key

FIRST, SECOND, OTHER = ("a", "one"), ("a", "two"), ("b", "one")


class Rig:
    """Tasks that run until they are ended, or fail when that is wanted."""

    def __init__(self) -> None:
        self.started: list[tuple[Key, str]] = []
        self.ended: list[Key] = []
        self.is_broken = False
        self.tasks = KeyedTasks(self.run, "work", most=3, most_of_namespace=2)

    async def run(self, key: Key, target: str) -> None:
        self.started.append((key, target))
        if self.is_broken:
            raise ValueError("broken")
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.append(key)


@pytest.fixture
def rig() -> Iterator[Rig]:
    found = Rig()
    yield found
    found.tasks.keep(set())


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_an_object_has_one_task_until_it_names_something_else_or_is_gone(rig: Rig) -> None:
    for target in ("x", "x", "y"):
        rig.tasks.put(FIRST, target)
        await settle()
    rig.tasks.put(SECOND, "")
    assert (rig.started, rig.ended) == ([(FIRST, "x"), (FIRST, "y")], [FIRST])
    assert rig.tasks.targets == {FIRST: "y"}
    rig.tasks.put(FIRST, "")
    rig.tasks.put(OTHER, "z")
    await settle()
    rig.tasks.keep({FIRST})
    await settle()
    assert (rig.tasks.targets, rig.ended) == ({}, [FIRST, FIRST, OTHER])


async def test_a_task_that_failed_is_started_again_by_the_next_word_of_its_object(rig: Rig) -> None:
    rig.is_broken = True
    rig.tasks.put(FIRST, "x")
    await settle()
    assert rig.tasks.targets == {}
    rig.is_broken = False
    rig.tasks.put(FIRST, "x")
    await settle()
    assert (rig.started, rig.tasks.targets) == ([(FIRST, "x")] * 2, {FIRST: "x"})


async def test_the_end_of_a_task_leaves_the_one_that_came_after_it(rig: Rig) -> None:
    rig.tasks.put(FIRST, "x")
    await settle()
    rig.tasks.put(FIRST, "y")
    await settle()
    rig.tasks.put(FIRST, "y")
    assert (rig.ended, rig.tasks.targets, len(rig.started)) == ([FIRST], {FIRST: "y"}, 2)


async def test_a_namespace_and_all_have_a_limit_and_what_ends_makes_room(rig: Rig) -> None:
    for key in (FIRST, SECOND, ("a", "three"), OTHER, ("b", "two")):
        rig.tasks.put(key, "x")
    assert set(rig.tasks.targets) == {FIRST, SECOND, OTHER}
    assert (rig.tasks.count_of("a"), rig.tasks.count_of("b")) == (2, 1)
    rig.tasks.drop(FIRST)
    rig.tasks.put(("b", "two"), "x")
    assert set(rig.tasks.targets) == {SECOND, OTHER, ("b", "two")}
    await settle()
