"""Plays the controller of Jobs: a Pod for each attempt, deadline, status, removal."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from datetime import UTC, datetime
from functools import partial
from typing import Any

import structlog

from eventing.local.kubelet import jobs
from eventing.local.kubelet.jobs import Progress, Task
from eventing.local.kubelet.pod_runs import SHORT_RUN_SECONDS, PodRuns
from eventing.local.kubelet.pods import Ended, event_about, job_labels, pod_of
from eventing.local.kubelet.requests import FIRST_RETRY_SECONDS, LONGEST_RETRY_SECONDS, demand, insist, record_event
from shared.adapters.kube import ApiError, KubeClient
from shared.api.manifest import Manifest, ReadOnly, uid_of
from shared.kinds import Ref

log = structlog.get_logger()


class JobRuns:
    """Runs Jobs, at most one Pod per Job at a time."""

    def __init__(self, cluster: KubeClient, pods: PodRuns) -> None:
        self._cluster = cluster
        self._pods = pods
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ended: set[str] = set()
        """Uids of Jobs whose end was written; a watch event about them may be older than that."""

    def observe(self, job: ReadOnly) -> None:
        """Run a Job that has not ended; delete an ended one when its time to live is over."""
        uid, due = uid_of(job), jobs.removal_due(job)
        if uid not in self._ended and (task := jobs.task_of(job)):
            self._begin(uid, self._run(task, jobs.begun(job, _now())))
        elif due is not None:
            self._begin(f"{uid} removal", self._remove(Ref.of(job), uid, due))

    def lost(self, uid: str) -> None:
        """End what goes on for a deleted Job; garbage collection deletes its Pods."""
        self._ended.discard(uid)
        for name in (uid, f"{uid} removal"):
            if task := self._tasks.get(name):
                task.cancel()

    async def close(self) -> None:
        """Leave every Job as it is; the next simulated kubelet runs them again."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, name: str, life: Coroutine[Any, Any, None]) -> None:
        if name in self._tasks:
            life.close()
            return
        task = self._tasks[name] = asyncio.create_task(life, name=name)
        task.add_done_callback(lambda done: self._over(name, done))

    def _over(self, name: str, task: asyncio.Task[None]) -> None:
        del self._tasks[name]
        if not task.cancelled() and (error := task.exception()):
            log.error("job_lost", job=name, exc_info=error)

    async def _run(self, task: Task, progress: Progress) -> None:
        try:
            async with asyncio.timeout(_seconds_left(task, progress)):
                status = await self._to_the_end(task, progress)
        except TimeoutError:
            status = jobs.failed(progress, "DeadlineExceeded", _now())
            await self._delete_pods(task)
        log.info("job_ended", job=str(task.ref), failures=progress.failures, succeeded="succeeded" in status)
        await self._write(task, status)
        self._ended.add(task.uid)

    async def _to_the_end(self, task: Task, progress: Progress) -> Manifest:
        attempts = asyncio.ensure_future(self._attempts(task, progress))
        try:
            done, _ = await asyncio.wait({attempts}, timeout=SHORT_RUN_SECONDS)
            if not done:
                await self._write(task, jobs.active(progress))
            return await attempts
        finally:
            attempts.cancel()
            await asyncio.gather(attempts, return_exceptions=True)

    async def _attempts(self, task: Task, progress: Progress) -> Manifest:
        while progress.failures <= task.retries:
            ended = await self._attempt(task)
            if ended.code == 0:
                return jobs.complete(progress, _now())
            progress.failures, progress.output = progress.failures + 1, ended.output
            if task.failure:
                progress.failures = task.retries + 1
            if progress.failures <= task.retries:
                pause = FIRST_RETRY_SECONDS * 2 ** (progress.failures - 1)
                await asyncio.sleep(min(pause, LONGEST_RETRY_SECONDS))
        return jobs.failed(progress, "BackoffLimitExceeded", _now())

    async def _attempt(self, task: Task) -> Ended:
        """Run a Pod to its end; a Pod that is deleted has failed."""
        found = self._pods.live_of(task.uid)
        pod = found[0] if found else await self._create(task)
        life = self._pods.begin(pod).task
        assert life is not None  # noqa: S101  # why: mypy cannot know that `begin` sets it
        await asyncio.wait({life})
        return Ended(1, "the Pod was deleted") if life.cancelled() else life.result() or Ended(1, "it has no program")

    async def _create(self, task: Task) -> ReadOnly:
        """Create a Pod; what admission refuses is tried again, and an Event says why it does not exist."""
        pause, reported = FIRST_RETRY_SECONDS, ""
        while True:
            desired = pod_of(task.job, job_labels(task.job))
            try:
                if made := await demand(partial(self._cluster.create, desired), task.ref):
                    return made
            except ApiError as error:
                if reported != error.message:
                    reported = error.message
                    event = event_about(
                        task.ref, task.uid, _now(), reason="FailedCreate", message=f"Error creating: {reported}"
                    )
                    await record_event(self._cluster, event, task.ref)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_RETRY_SECONDS)

    async def _delete_pods(self, task: Task) -> None:
        for pod in self._pods.live_of(task.uid):
            await insist(partial(self._cluster.delete, Ref.of(pod), uid=uid_of(pod)), task.ref)

    async def _write(self, task: Task, status: Manifest) -> None:
        # why: with the uid, the status of a deleted Job is not written to a new Job of the same name
        patch = {"metadata": {"uid": task.uid}, "status": status}
        await insist(lambda: self._cluster.merge(task.ref, patch, subresource="status"), task.ref)

    async def _remove(self, ref: Ref, uid: str, due: datetime) -> None:
        await asyncio.sleep(max(0.0, (due - datetime.now(UTC)).total_seconds()))
        await insist(lambda: self._cluster.delete(ref, uid=uid), ref)


def _seconds_left(task: Task, progress: Progress) -> float | None:
    if task.deadline is None:
        return None
    return max(0.0, (progress.started + task.deadline - datetime.now(UTC)).total_seconds())


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)
