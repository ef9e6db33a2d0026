"""Schedules on RQ's cron: RQ's tools list the schedulers, what each does when, and when it last did.

What is due for one object (a poll, a retry, a delay) is no schedule: it waits in the queue, which knows of it what RQ
could not (who holds the object, which events came meanwhile). A schedule is about the installation.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from redis import Redis
from rq import cron_job_registry
from rq.cron import CronJob, CronScheduler

from eventing.workqueue.rq_jobs import RQ_QUEUE

_RENEW_SECONDS: Final = 45.0
"""RQ forgets a scheduler that is silent for two minutes."""
_BEGUN_SECONDS: Final = 10
"""After this time a turn is done again whose scheduler was killed before it said that it did it."""
_HISTORY: Final = 10
_HISTORY_SECONDS: Final = 7 * 24 * 60 * 60


class Schedule(CronJob):  # type: ignore[misc]  # RQ is not typed for us
    """Something to do once in each period, however many schedulers there are."""

    def __init__(self, client: Redis, name: str, act: Callable[[str], object], *, seconds: int) -> None:
        """`act` receives the id of the turn; it may be called again for a turn that Redis has lost."""
        super().__init__(RQ_QUEUE, func_name=name, interval=seconds, name=name)
        self._client, self._act, self._seconds = client, act, seconds
        self._last = ""

    def should_run(self) -> bool:
        """Whether it is due by RQ's clock, or Redis has lost that it was done."""
        return bool(super().should_run()) or not self._client.exists(_key(self._last))

    def enqueue(self, connection: Redis) -> None:
        """Do it, unless another scheduler did in this period."""
        turn = f"{self.name}-{connection.time()[0] // self._seconds}"
        self._last = turn
        if connection.set(_key(turn), 1, nx=True, ex=_BEGUN_SECONDS):
            self._act(turn)
            self._note(connection, turn)

    def _note(self, connection: Redis, turn: str) -> None:
        now, key = time.time(), self.job_history_key
        with connection.pipeline() as pipe:
            pipe.set(_key(turn), 1, ex=2 * self._seconds)
            pipe.zadd(key, {turn: now})
            pipe.zremrangebyrank(key, 0, -(_HISTORY + 1))
            pipe.expire(key, _HISTORY_SECONDS)
            cron_job_registry.add(self.name, pipe, enqueue_timestamp=now)
            pipe.execute()


class Schedules(CronScheduler):  # type: ignore[misc]  # RQ is not typed for us
    """RQ's cron scheduler, whose loop is its caller's."""

    def __init__(self, client: Redis, name: str) -> None:
        super().__init__(client, "WARNING", name)
        self._cron_jobs: list[Any] = []
        self._renewed = 0.0

    def every(self, seconds: int, name: str, act: Callable[[str], object]) -> None:
        """Do it at once, and then in each period."""
        self._cron_jobs.append(Schedule(self.connection, name, act, seconds=seconds))

    def tick(self) -> None:
        """Do what is due. Errors are those of Redis, and of what is done, which then is due again."""
        if not self._renewed:
            self.register_birth()
            self._renewed = time.monotonic()
        if self.enqueue_jobs():
            self.save()
        if time.monotonic() - self._renewed > _RENEW_SECONDS:
            self.heartbeat()
            self._renewed = time.monotonic()


def _key(turn: str) -> str:
    return f"olmf:turn:{turn}"
