"""One task for each object that needs one, a limited number for each namespace and for all.

A task that has ended, in whatever way, is forgotten: the next change or list that names its object starts it again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial

import structlog

from eventing.watch.namespaced import Key, ListedKeys

log = structlog.get_logger()


class KeyedTasks:
    """The tasks that run, by the object that each is for."""

    def __init__(
        self,
        run: Callable[[Key, str], Coroutine[object, object, None]],
        name: str,
        *,
        most: int,
        most_of_namespace: int,
    ) -> None:
        """`run` works for an object and what it names; `name` says in logs what the tasks are."""
        self._run = run
        self._name = name
        self._most, self._most_of_namespace = most, most_of_namespace
        self._tasks: dict[Key, tuple[str, asyncio.Task[None]]] = {}

    @property
    def targets(self) -> dict[Key, str]:
        """What the object of each task names."""
        return {key: target for key, (target, _) in self._tasks.items()}

    def put(self, key: Key, target: str) -> None:
        """Work for an object that names this; one that names something else, or nothing, has its task ended first."""
        if self.targets.get(key, "") == target:
            return
        self.drop(key)
        if target and len(self._tasks) < self._most and self.count_of(key[0]) < self._most_of_namespace:
            work = self._run(key, target)
            task = asyncio.get_running_loop().create_task(work, name=f"{self._name} of {key}")
            self._tasks[key] = target, task
            task.add_done_callback(partial(self._ended, key))

    def drop(self, key: Key) -> None:
        """End the task of an object."""
        if found := self._tasks.pop(key, None):
            found[1].cancel()

    def keep(self, listed: ListedKeys) -> None:
        """End the tasks of all other objects."""
        for key in self._tasks.keys() - listed:
            self.drop(key)

    def count_of(self, namespace: str) -> int:
        """How many run for objects of a namespace."""
        return sum(key[0] == namespace for key in self._tasks)

    def _ended(self, key: Key, task: asyncio.Task[None]) -> None:
        if (found := self._tasks.get(key)) and found[1] is task:
            del self._tasks[key]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("task_failed", task=task.get_name(), exc_info=error)
