"""The use of RQ: it shows worker processes, and dead letters as failed jobs (which `dead_letters.lua` writes).

The acts are `drain`, `retry` and `run` (in `rq_long`). An RQ job names its act; any other content of the queue (a
pickle, a function to import, a callback) is refused, counted and listed as failed, and never executed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from redis import Redis
from rq import Queue, SimpleWorker
from rq.exceptions import InvalidJobOperation
from rq.job import Job as RqJob
from rq.job import JobStatus
from rq.registry import FailedJobRegistry

Act: TypeAlias = Callable[..., object]

RQ_QUEUE = "olmf"
"""The one RQ queue of all workers, whichever groups they serve."""
DRAIN = "drain"
RETRY = "retry"
_VERSION = 1
_FAILURE_SECONDS = 600
_WORKER_SECONDS = 90  # RQ removes a killed worker after about this time
_PAUSE_SECONDS = 0.02
_REFUSED: Any = ("", None, (), {})


class Payload:
    """Serializer: JSON in an envelope with a version, so that jobs survive our upgrades; other bytes are not a job."""

    @staticmethod
    def dumps(value: object) -> bytes:
        """The value in its envelope, as bytes."""
        return json.dumps({"version": _VERSION, "value": value}).encode()

    @staticmethod
    def loads(data: bytes) -> Any:
        """The value in the envelope; for any other bytes a job that names no act."""
        try:
            envelope = json.loads(data)
        except ValueError:
            return _REFUSED
        is_ours = isinstance(envelope, dict) and envelope.get("version") == _VERSION
        return envelope.get("value") if is_ours else _REFUSED


class ActJob(RqJob):  # type: ignore[misc]  # RQ is not typed for us
    """An RQ job that calls an act of its worker and imports no code."""

    act: Act

    def _execute(self) -> None:
        self.act(**self.kwargs)


class ActWorker(SimpleWorker):  # type: ignore[misc]  # RQ is not typed for us
    """An RQ worker that does not fork and performs only acts."""

    job_class = ActJob

    def __init__(self, client: Redis, name: str, acts: Mapping[str, Act], *, queue: str) -> None:
        queues = [Queue(queue, connection=client, serializer=Payload, job_class=ActJob)]
        super().__init__(queues, name=name, connection=client, serializer=Payload, worker_ttl=_WORKER_SECONDS)
        self._acts = acts
        self._failure: BaseException | None = None

    def raise_failure(self) -> None:
        """Raise what an act raised, if one did."""
        if self._failure:
            raise self._failure

    def handle_exception(self, _: Any, *exc_info: Any) -> None:
        """Keep the exception of an act: RQ would continue and fail again and again.

        Not that of RQ when the record of its job was deleted during the run: the run itself is in our queue.
        """
        if isinstance(exc_info[1], InvalidJobOperation):
            return
        self._failure = exc_info[1]
        self._stop_requested = True

    def execute_job(self, job: Any, queue: Any) -> None:
        """Perform an act; refuse any other job."""
        if act := self.act_of(job):
            self.perform(job, queue, act)
        else:
            _refuse(self.connection, job, queue)

    def act_of(self, job: Any) -> Act | None:
        """What the job asks for; None when it is not ours."""
        has_callbacks = job._success_callback_name or job._failure_callback_name or job.webhooks  # noqa: SLF001
        return None if has_callbacks or job.instance else self._acts.get(job.func_name)

    def perform(self, job: Any, queue: Any, act: Act) -> None:
        """Perform the act, with all that RQ notes about it."""
        job.act = act
        super().execute_job(job, queue)

    def check_for_suspension(self, _: bool) -> None:
        """Wait while `rq suspend` is in effect, also in burst mode, which otherwise would end at once each time."""
        super().check_for_suspension(burst=False)

    def subscribe(self) -> None:
        """Ignore RQ's commands over Redis: the parent process decides when a worker ends."""

    def _install_signal_handlers(self) -> None:
        """Leave signals to the process that owns this worker."""


class DrainWorker(ActWorker):
    """The RQ worker of the direct lane; one RQ job, `drain`, runs many jobs."""

    def __init__(self, client: Redis, name: str, acts: Mapping[str, Act]) -> None:
        super().__init__(client, name, acts, queue=RQ_QUEUE)

    def drain(self) -> None:
        """Perform the RQ jobs, at least one `drain`, until the queue is empty; raises what an act raised."""
        if self.queues[0].is_empty():
            self.queues[0].enqueue_call(DRAIN, timeout=-1, result_ttl=0, failure_ttl=_FAILURE_SECONDS)
        has_worked = self.work(burst=True, logging_level="WARNING")
        self.raise_failure()
        if not has_worked:
            time.sleep(_PAUSE_SECONDS)  # another worker was faster, or RQ failed: avoid a busy loop


def _refuse(client: Redis, job: Any, queue: Any) -> None:
    client.incr("olmf:refused")
    client.lrem(queue.intermediate_queue_key, 1, job.id)
    job.set_status(JobStatus.FAILED)
    failed = FailedJobRegistry(RQ_QUEUE, connection=client, serializer=Payload)
    failed.add(job, ttl=_FAILURE_SECONDS, exc_string="refused: it is not a job of ours")
