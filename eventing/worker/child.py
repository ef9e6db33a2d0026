"""The child of a worker: runs the jobs of one lane through RQ, renews its leases, ends at what it cannot handle."""

from __future__ import annotations

import math
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import NoReturn

import structlog

from eventing.events.former import queues_of
from eventing.events.job import Job
from eventing.metrics.health import REDIS, Health, Heartbeat
from eventing.worker.crew import ThreadedDrainer
from eventing.worker.drainer import GROUPS, Drainer, Factory
from eventing.worker.stopwatch import Stopwatch
from eventing.workqueue import REFUSED, Loss, WorkQueue, connect, is_temporary
from shared.config import Settings
from shared.domain.progress import Progress
from shared.kinds import Ref

_OUT_OF_MEMORY = 71
"""Exit code of a child whose run got no more memory."""
_REDIS_LOST = 72
"""Exit code of a child that Redis did not answer, or refused: no run is the reason."""
STACK_BYTES = 2 * 1024 * 1024
"""Of each thread that runs no steps; the usual 8 MiB count towards the memory of the process, used or not."""
AWAKE_SECONDS = 4
"""For how long a worker on call says that it is awake; it says so each second."""
_PAUSE_SECONDS = 1

log = structlog.get_logger()


def loss_of(code: int, settings: Settings, present: frozenset[int]) -> Loss:
    """Why a child has ended, by its exit code, with these runs under way."""
    if code == _REDIS_LOST:
        return Loss("its worker lost Redis", "retry")
    if code == _OUT_OF_MEMORY:
        return Loss.among(present, f"ended: it needed more than {_mebibytes(settings)} MiB", "limit")
    if code == -signal.SIGABRT:  # how libraries in C++ and Rust end when they get no memory
        message = f"ended: it probably needed more than {_mebibytes(settings)} MiB (SIGABRT)"
        return Loss.among(present, message, "limit")
    died = f"died of {signal.Signals(-code).name}" if code < 0 else f"exited ({code})"
    return Loss.among(present, f"its worker {died}")


def _mebibytes(settings: Settings) -> int:
    return settings.run_memory_bytes // 1024**2


def served(settings: Settings) -> tuple[str, ...]:
    """The groups whose queues a worker drains; the long lane is one for all groups."""
    return ("long",) if settings.lane == "long" else queues_of(settings.steps or GROUPS)


def limit_seconds(settings: Settings) -> int:
    """How long a run of the worker's lane may take."""
    return settings.long_seconds if settings.lane == "long" else settings.run_seconds


def runs_at_once(settings: Settings) -> int:
    """How many runs a worker has under way at a time; one that may take minutes has its process for itself."""
    return 1 if settings.lane == "long" else settings.concurrency


@dataclass(frozen=True, slots=True)
class Child:
    """What a child has from its parent."""

    settings: Settings
    factory: Factory
    worker: str
    stopwatch: Stopwatch
    health: Health
    parent_watch: socket.socket
    """Says that the child is ready; its end is the end of the parent."""
    loss: Loss
    is_stopping: Callable[[], bool]
    """Whether the parent was told to stop before the child could be."""

    def run(self) -> NoReturn:
        """Serve the lane until told to stop, or until something happens that is not to be handled here."""
        threading.stack_size(STACK_BYTES)
        threading.Thread(target=die_with, args=(self.parent_watch,), daemon=True).start()
        self.health.begin_child()
        run_or_die(self._serve)

    def _serve(self) -> None:
        started = time.monotonic()
        settings = self.settings
        queue = WorkQueue(connect(settings.redis_url), settings, worker=self.worker, is_renewing=True)
        queue.sweep(lost_worker=queue.worker, loss=self.loss)
        make = Drainer if settings.lane == "long" else ThreadedDrainer
        drainer = make(queue, queues_of(settings.steps or GROUPS), self.factory(queue), self.stopwatch)
        serve = _long_lane if settings.lane == "long" else _direct_lane
        act = serve(f"{self.worker}-{os.getpid()}", settings, drainer)
        if self.is_stopping():
            return
        _limit_memory(settings.run_memory_bytes)
        sweep = partial(sweep_forever, queue, self.health.heartbeat, lambda: self._besides_sweeping(queue))
        threading.Thread(target=run_or_die, args=(sweep,), daemon=True).start()
        drainer.begin(run_or_die)
        took_ms = int((time.monotonic() - started) * 1000)
        log.info("worker_ready", worker=self.worker, lane=settings.lane, groups=list(drainer.groups), took_ms=took_ms)
        self.parent_watch.send(b"r")
        while not drainer.is_stopping:
            act()
        drainer.end()
        queue.on_end()
        if settings.on_call:
            queue.note_awake(served(settings), 0)

    def _besides_sweeping(self, queue: WorkQueue) -> None:
        """What the sweeper does at each turn."""
        if self.settings.on_call and not self.is_stopping():
            queue.note_awake(served(self.settings), AWAKE_SECONDS)
        self._look_after_long_run(queue)

    def _look_after_long_run(self, queue: WorkQueue) -> None:
        """Show how far the run is; end it if a person canceled it."""
        if self.settings.lane != "long":
            return
        from eventing.workqueue import rq_long

        limit = self.settings.long_seconds
        for claim in queue.running:
            if rq_long.is_canceled(queue.client, claim) and queue.cancel(claim):
                log.warning("run_canceled", step=claim.step, ref=str(claim.ref))
                os._exit(0)
            if (left := self.stopwatch.left(limit)) < math.inf:
                progress = queue.progress() or Progress(claim.attempt, round(limit - left), limit)
                rq_long.note_progress(queue.client, claim, progress)


def die_with(parent: socket.socket) -> None:
    """End the process when the other end of the socket is closed: with the parent, however that ended."""
    with suppress(ConnectionError):  # of a parent that was killed before it read that its child is ready
        parent.recv(1)
    os._exit(1)


def run_or_die(work: Callable[[], object]) -> NoReturn:
    """Work, then end the process: nobody would start a thread again, and a child is not to go on in its parent's code.

    A worker whose leases nobody renews, for example, must not go on.
    """
    code = 1
    try:
        work()
        code = 0
    except MemoryError:
        code = _OUT_OF_MEMORY
    except REFUSED as error:
        if is_temporary(error):
            code = _REDIS_LOST
            log.warning("redis_lost", error=f"{type(error).__name__}: {error}")
        else:
            log.exception("worker_failed")
    except Exception:
        log.exception("worker_failed")
    finally:
        sys.stderr.flush()
        os._exit(code)


def _direct_lane(name: str, settings: Settings, drainer: Drainer) -> Callable[[], None]:
    from eventing.workqueue.rq_jobs import DRAIN, RETRY, Act, DrainWorker

    client = connect(settings.redis_url)
    acts: dict[str, Act] = {
        DRAIN: drainer.drain,
        RETRY: lambda step, ref: drainer.queue.retry_dead([Job(step, Ref.parse(ref))]),
    }
    _on_stop(drainer.stop)
    return lambda: DrainWorker(client, name, acts).drain()


def _long_lane(name: str, settings: Settings, drainer: Drainer) -> Callable[[], None]:
    from eventing.workqueue.rq_long import RUN, LongWorker

    client = connect(settings.redis_url)
    present: list[LongWorker] = []

    def serve() -> None:
        present[:] = [LongWorker(client, name, {RUN: drainer.begin_long})]
        if not drainer.is_stopping:
            present[0].serve()

    def stop(*_: object) -> None:
        drainer.stop()
        for worker in present:
            worker.stop()

    _on_stop(stop)
    return serve


def _on_stop(handler: Callable[..., None]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handler)


def _limit_memory(limit_bytes: int) -> None:
    """Let a run that needs more fail alone, before the kernel ends whatever is in the container."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (limit_bytes if hard < 0 else min(limit_bytes, hard), hard))


def sweep_forever(queue: WorkQueue, heartbeat: Heartbeat, also: Callable[[], object] = lambda: None) -> NoReturn:
    """Queue due jobs, take back lost leases and renew its own, until Redis says no for a reason that stays.

    Decision: such a reason (a script that is broken, a right that is missing) ends the program, and its restarts and
    probes show it. Turned down: to try each second, when a worker looks well though nobody renews its leases.
    """
    while True:
        heartbeat.tries()
        try:
            seconds = queue.sweep()
            heartbeat.answered(REDIS)
            also()
            queue.wait_for_delay(seconds)
        except REFUSED as error:  # why: in a worker this is a thread, which nobody would start again
            if not is_temporary(error):
                raise
            log.warning("redis_refuses", error=str(error))
            time.sleep(_PAUSE_SECONDS)
