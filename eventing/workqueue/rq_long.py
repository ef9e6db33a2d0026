"""The long lane on RQ: one RQ job for each long job that may run, so that RQ shows, cancels and retries it.

The scripts are the only truth: an RQ job says no more than "try to claim this". So nothing is lost or run twice if an
RQ job is lost, doubled or late, and whoever sweeps makes those that are missing.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from redis import Redis
from rq import Queue
from rq.exceptions import InvalidJobOperation, NoSuchJobError, StopRequested
from rq.job import JobStatus
from rq.registry import CanceledJobRegistry, StartedJobRegistry
from rq.timeouts import BaseDeathPenalty

from eventing.events.job import Job
from eventing.workqueue import scripts
from eventing.workqueue.client import LONGEST_BLOCK_SECONDS
from eventing.workqueue.rq_jobs import Act, ActJob, ActWorker, Payload
from eventing.workqueue.values import Claim, entry_of
from shared.domain.progress import Progress

LONG_QUEUE = "olmf-long"
"""The RQ queue of the long lane."""
RUN = "run"
_LONGEST_NAME = 120
_FAILURE_SECONDS = 600
_PAUSE_SECONDS = 1


def name_of(job: Job, turn: int) -> str:
    """The id of its RQ job: readable, of the letters that RQ accepts, and another one for each run.

    What RQ notes at the end of a run must not reach the next run, which may have begun.
    """
    return f"{_stem(job)}{turn}"


def publish(client: Redis, jobs: Iterable[tuple[Job, int]], limit_seconds: int) -> tuple[Job, ...]:
    """Make the RQ jobs that are missing; returns those jobs whose RQ job a person has canceled."""
    queue = _queue(client)
    present = set(queue.get_job_ids())
    missing = {name_of(job, turn): job for job, turn in jobs}
    canceled = _canceled(client)
    found = []
    for name in [name for name in missing if name not in present]:
        if client.zrem(canceled.key, name):
            found.append(missing[name])
        else:
            _enqueue(client, queue, name, missing[name], limit_seconds=limit_seconds)
    return tuple(found)


def is_canceled(client: Redis, claim: Claim) -> bool:
    """Whether a person canceled the RQ job of that run; forgets it."""
    return bool(client.zrem(_canceled(client).key, name_of(Job(claim.step, claim.ref), claim.turn)))


def cancel(client: Redis, job: Job) -> int:
    """Cancel what RQ has of a long job, as RQ's own tools do: the run ends, or does not begin; returns how much it was.

    One that waits for the turn of its namespace, or for its next try, is not in RQ yet.
    """
    found = 0
    for key in list(client.scan_iter(f"rq:job:{_stem(job)}*")):
        with suppress(NoSuchJobError, InvalidJobOperation):  # it ended meanwhile, or somebody else was faster
            present = ActJob.fetch(key.decode().removeprefix("rq:job:"), connection=client, serializer=Payload)
            if present.get_status() in (JobStatus.QUEUED, JobStatus.STARTED):
                present.cancel()
                found += 1
    return found


def note_progress(client: Redis, claim: Claim, progress: Progress) -> None:
    """Write into the queue, and into the `meta` of the RQ job, how far the run is; nothing if its lease is lost."""
    name = name_of(Job(claim.step, claim.ref), claim.turn)
    scripts.run(client, "progress", str(claim.ref), claim.token, name, json.dumps(asdict(progress)))


class LongWorker(ActWorker):
    """An RQ worker that waits for the RQ jobs of the long lane.

    Its act claims a job, and returns what runs it; None: it need not, or must not, run now.
    """

    class death_penalty_class(BaseDeathPenalty):  # type: ignore[misc]  # noqa: N801  # why: the name is RQ's, untyped
        """No alarm in this process: its parent ends a run beyond its time."""

        def setup_death_penalty(self) -> None:
            """Nothing."""

        def cancel_death_penalty(self) -> None:
            """Nothing."""

    max_connection_wait_time = 2.0

    def __init__(self, client: Redis, name: str, acts: Mapping[str, Act]) -> None:
        super().__init__(client, name, acts, queue=LONG_QUEUE)
        self._is_busy = False
        _forget_children(client, name.rpartition("-")[0])

    @property
    def dequeue_timeout(self) -> int:
        """How long it blocks; the socket waits longer."""
        return LONGEST_BLOCK_SECONDS

    def serve(self) -> None:
        """Perform RQ jobs until told to stop, or until RQ failed; raises what an act raised."""
        try:
            self.work(logging_level="WARNING")
        except StopRequested:
            return
        self.raise_failure()
        if not self._stop_requested:
            time.sleep(_PAUSE_SECONDS)  # RQ has logged why; Redis refuses changes, for example

    def execute_job(self, job: Any, queue: Any) -> None:
        """Run the job, if it can be claimed, during which a signal only asks to stop.

        It is claimed before RQ notes anything about it: an RQ job that is doubled must leave the other one alone.
        """
        self._is_busy = True
        try:
            begin = self.act_of(job)
            run = begin(**job.kwargs) if begin else None
            if begin is None:
                super().execute_job(job, queue)  # which refuses it
            elif callable(run):
                self.perform(job, queue, lambda **_: run())
            else:
                self.connection.lrem(queue.intermediate_queue_key, 1, job.id)
                self.connection.expire(job.key, int(job.timeout) + _FAILURE_SECONDS)
        finally:
            self._is_busy = False

    def stop(self) -> None:
        """Signal handler: end after the present run."""
        self._stop_requested = True
        if not self._is_busy:
            raise StopRequested


def _enqueue(client: Redis, queue: Any, name: str, job: Job, *, limit_seconds: int) -> None:
    _forget_lost_runs(client, job)
    client.lrem(queue.intermediate_queue_key, 0, name)
    queue.enqueue_call(
        RUN, kwargs={"step": job.step, "ref": str(job.ref)}, job_id=name, timeout=limit_seconds, result_ttl=0,
        failure_ttl=_FAILURE_SECONDS, description=f"{job.step} {job.ref}",
    )  # fmt: skip


def _forget_lost_runs(client: Redis, job: Job) -> None:
    """Forget the runs of killed workers: RQ would call them running for as long as a run may take."""
    started = StartedJobRegistry(LONG_QUEUE, connection=client, serializer=Payload)
    for execution, _ in client.zscan_iter(started.key):
        if execution.startswith(_stem(job).encode()):
            client.zrem(started.key, execution)
            client.delete(ActJob.key_for(execution.decode().partition(":")[0]))


def _stem(job: Job) -> str:
    text = f"{job.step}-{job.ref.namespace}-{job.ref.name}"
    digest = hashlib.sha256(entry_of(job).encode()).hexdigest()[:12]
    return f"{re.sub('[^A-Za-z0-9_-]', '-', text)[:_LONGEST_NAME]}-{digest}-"


def _forget_children(client: Redis, worker: str) -> None:
    """Forget the children of that worker that were killed: RQ would count them for as long as a run may take."""
    members = "rq:workers:" + LONG_QUEUE
    for key in client.sscan_iter(members):
        if key.startswith(f"rq:worker:{worker}-".encode()):
            client.srem(members, key)
            client.srem("rq:workers", key)
            client.delete(key)


def _queue(client: Redis) -> Any:
    return Queue(LONG_QUEUE, connection=client, serializer=Payload, job_class=ActJob)


def _canceled(client: Redis) -> Any:
    return CanceledJobRegistry(LONG_QUEUE, connection=client, serializer=Payload)
