"""A queue on a real server, and a hand on its clock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from redis import Redis
from rq.job import Job as RqJob
from rq.registry import FailedJobRegistry

from eventing.events.job import Job, Lane
from eventing.workqueue import Claim, WorkQueue, connect
from eventing.workqueue.rq_jobs import RQ_QUEUE, Payload
from eventing.workqueue.run_result import RunResult
from shared.config import Settings
from shared.kinds import Ref

GROUPS = ("subscription", "bundle")


NONE = timedelta()


def a_job(
    name: str = "one",
    step: str = "subscription/look",
    lane: Lane = "direct",
    delay: timedelta = NONE,
    namespace: str = "ns",
) -> Job:
    return Job(step, Ref("v1", "ConfigMap", name, namespace), lane, delay)


def a_result(**fields: object) -> RunResult:
    return RunResult(**{"run_id": "run", "record": b"{}", **fields})  # type: ignore[arg-type]  # a builder


@dataclass(frozen=True)
class Rig:
    """What a test does to a queue besides its own acts."""

    queue: WorkQueue
    client: Redis

    def claim(self, groups: Sequence[str] = GROUPS) -> Claim:
        """The next job; there must be one."""
        claim = self.queue.claim(groups)
        assert claim, "nothing to claim"
        return claim

    def states(self) -> dict[str, list[str]]:
        """Names by state."""
        found: dict[str, list[str]] = {}
        for job in (*self.queue.ls(), *self.queue.dead()):
            found.setdefault(job.state, []).append(job.ref.name)
        return found

    def end_leases(self) -> None:
        """Let all leases be over, as if time had passed."""
        self._set_scores("olmf:leases")

    def end_delays(self) -> None:
        """Let all delays be over, and sweep."""
        self._set_scores("olmf:delayed")
        self.queue.sweep()

    def due_in(self) -> float:
        """Seconds until the one delayed job is due."""
        (job,) = [job for job in self.queue.ls() if job.state == "delayed"]
        assert job.due
        return (job.due - datetime.now(UTC)).total_seconds()

    def fail(self, times: int, **fields: object) -> None:
        """Claim and fail that often, each time without waiting."""
        for _ in range(times):
            assert self.queue.finish(self.claim(), a_result(**{"failure": "bug", "message": "boom", **fields}))
            self.end_delays()

    def _set_scores(self, key: str) -> None:
        for member, _ in self.client.zscan_iter(key):
            self.client.zadd(key, {member: 1})


def rq_failed(rig: Rig) -> list[RqJob]:
    """RQ's failed jobs, as `rq info` and dashboards read them."""
    registry = FailedJobRegistry(RQ_QUEUE, connection=rig.client, serializer=Payload)
    return [RqJob.fetch(name, connection=rig.client, serializer=Payload) for name in registry.get_job_ids()]


@pytest.fixture
def rig(redis_url: str) -> Iterator[Rig]:
    with connect(redis_url) as client:
        yield Rig(WorkQueue(client, Settings(max_failures=3), worker="me"), client)
