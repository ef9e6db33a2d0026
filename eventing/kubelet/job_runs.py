"""Runs Jobs: attempts, deadline, status, removal."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import structlog

from eventing.forking import Launcher, without_ties
from eventing.kubelet import jobs
from eventing.kubelet.jobs import Progress, Task
from eventing.kubelet.mounts import VOLUMES, mount_secrets, own_folder
from shared.adapters.kube import ApiError, KubeClient
from shared.api.manifest import Manifest, ReadOnly, uid_of
from shared.kinds import Ref

SHORT_RUN_SECONDS = 0.7
"""A Job that ends sooner never shows as active."""
FIRST_RETRY_SECONDS = 0.5
LONGEST_RETRY_SECONDS = 10.0
OUTPUT_LENGTH = 800
"""How many characters of a failed attempt's output are in the condition."""
log = structlog.get_logger()


class JobRuns:
    """Runs Jobs, at most one process per Job at a time."""

    def __init__(self, cluster: KubeClient, launcher: Launcher, *, kubeconfig: str, at_once: int) -> None:
        self._cluster = cluster
        self._launcher = launcher
        self._environ = without_ties(os.environ)
        if kubeconfig:
            self._environ |= {"KUBECONFIG": kubeconfig, "OLMF_KUBECONFIG": kubeconfig}
        self._room = asyncio.Semaphore(at_once)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ended: set[str] = set()
        """Uids of Jobs whose end was written; a watch event about them may be older than that."""
        self._folder = own_folder()

    def saw(self, job: ReadOnly) -> None:
        """Run a Job that has not ended; delete an ended one when its time to live is over."""
        uid, due = uid_of(job), jobs.removal_due(job)
        if uid not in self._ended and (task := jobs.task_of(job)):
            self._begin(uid, self._run(task, jobs.begun(job, _now())))
        elif due is not None:
            self._begin(f"{uid} removal", self._remove(Ref.of(job), uid, due))

    def lost(self, uid: str) -> None:
        """End the process of a deleted Job."""
        self._ended.discard(uid)
        for name in (uid, f"{uid} removal"):
            if task := self._tasks.get(name):
                task.cancel()

    async def close(self) -> None:
        """End every process; the Jobs stay as they are, and the next simulated kubelet runs them again."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        shutil.rmtree(self._folder, ignore_errors=True)

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
        if task.failure:
            progress.failures, progress.output = task.retries + 1, task.failure
        while progress.failures <= task.retries:
            async with self._room:
                code = await self._attempt(task, progress)
            if code == 0:
                return jobs.complete(progress, _now())
            progress.failures += 1
            if progress.failures <= task.retries:
                pause = FIRST_RETRY_SECONDS * 2 ** (progress.failures - 1)
                await asyncio.sleep(min(pause, LONGEST_RETRY_SECONDS))
        return jobs.failed(progress, "BackoffLimitExceeded", _now())

    async def _attempt(self, task: Task, progress: Progress) -> int:
        """Run the program once and return its exit code; 1 when it cannot be started, e.g. on a full disk."""
        try:
            code = await self._program(task, progress)
        except OSError as error:
            code, progress.output = 1, str(error)
        if code:
            log.warning("job_attempt_failed", job=str(task.ref), code=code, output=progress.output)
        return code

    async def _program(self, task: Task, progress: Progress) -> int:
        self._folder.mkdir(mode=0o700, exist_ok=True)  # why: temporary folders that are idle for days get tidied away
        with tempfile.TemporaryDirectory(dir=self._folder, ignore_cleanup_errors=True) as folder:
            place = Path(folder)
            environ = {**self._environ, **task.environ}
            if task.secrets:
                environ[VOLUMES] = str(place)
                await self._insist(lambda: mount_secrets(self._cluster, task, place), task.ref)
            code = await self._launcher.run(place.name, task.arguments, environ, place / "log")
            if code:
                progress.output = _end_of(place / "log")
            return code

    async def _write(self, task: Task, status: Manifest) -> None:
        # why: with the uid, the status of a deleted Job is not written to a new Job of the same name
        patch = {"metadata": {"uid": task.uid}, "status": status}
        await self._insist(lambda: self._cluster.merge(task.ref, patch, subresource="status"), task.ref)

    async def _remove(self, ref: Ref, uid: str, due: datetime) -> None:
        await asyncio.sleep(max(0.0, (due - datetime.now(UTC)).total_seconds()))
        await self._insist(lambda: self._cluster.delete(ref, uid=uid), ref)

    async def _insist(self, act: Callable[[], object], ref: Ref) -> None:
        """Send a request until the API server accepts or refuses it."""
        pause = FIRST_RETRY_SECONDS
        while True:
            try:
                await asyncio.to_thread(act)
            except ApiError as error:
                if error.is_not_found or error.is_conflict:
                    return  # why: the Job was deleted, or replaced by another of its name
                log.warning("job_request_failed", job=str(ref), error=str(error))
                if error.status in (400, 403, 422):
                    return
            else:
                return
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_RETRY_SECONDS)


def _seconds_left(task: Task, progress: Progress) -> float | None:
    if task.deadline is None:
        return None
    return max(0.0, (progress.started + task.deadline - datetime.now(UTC)).total_seconds())


def _end_of(output: Path) -> str:
    text = output.read_text(errors="replace").strip() if output.exists() else ""
    return text[-OUTPUT_LENGTH:]


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)
