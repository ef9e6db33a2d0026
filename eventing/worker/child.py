"""The child of a worker: runs the jobs of one lane through RQ, renews its lease, ends at what it cannot handle."""

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
from dataclasses import dataclass
from typing import NoReturn

import structlog

from eventing.events.job import Job
from eventing.metrics.health import REDIS, Health, Heartbeat
from eventing.worker.drainer import GROUPS, Drainer, Factory
from eventing.worker.stopwatch import Stopwatch
from eventing.workqueue import REFUSED, UNREACHABLE, WorkQueue, connect, is_paused, is_temporary
from shared.config import Settings
from shared.kinds import Ref

_OUT_OF_MEMORY = 71
"""Exit code of a child whose run got no more memory."""
_PAUSE_SECONDS = 1

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Lost:
    """Why the child before has ended."""

    reason: str = "its worker was started again"
    is_over_limit: bool = False
    """The run is the reason: it needed too much time or memory."""

    @classmethod
    def of(cls, code: int, settings: Settings) -> Lost:
        """The reason that the exit code of a child tells."""
        limit = f"{settings.run_memory_bytes // 1024**2} MiB"
        if code == _OUT_OF_MEMORY:
            return cls(f"ended: it needed more than {limit}", is_over_limit=True)
        if code == -signal.SIGABRT:  # how libraries in C++ and Rust end when they get no memory
            return cls(f"ended: it probably needed more than {limit} (SIGABRT)", is_over_limit=True)
        return cls(f"its worker died of {signal.Signals(-code).name}" if code < 0 else f"its worker exited ({code})")


def limit_seconds(settings: Settings) -> int:
    """How long a run of the worker's lane may take."""
    return settings.long_seconds if settings.lane == "long" else settings.run_seconds


@dataclass(frozen=True, slots=True)
class Child:
    """What a child has from its parent."""

    settings: Settings
    factory: Factory
    worker: str
    stopwatch: Stopwatch
    health: Health
    lifeline: socket.socket
    """Says that the child is ready; its end is the end of the parent."""
    lost: Lost
    is_stopping: Callable[[], bool]
    """Whether the parent was told to stop before the child could be."""

    def run(self) -> NoReturn:
        """Serve the lane until told to stop, or until something happens that is not to be handled here."""
        code = 1
        try:
            threading.Thread(target=self._die_with_parent, daemon=True).start()
            self.health.begin_child()
            self._serve()
            code = 0
        except MemoryError:
            code = _OUT_OF_MEMORY
        except UNREACHABLE as error:
            log.warning("redis_unreachable", error=str(error))
        except REFUSED as error:
            if not is_paused(error):
                log.exception("worker_failed")
            log.warning("redis_refuses", error=str(error))
        except Exception:  # the child must not continue in the parent's code
            log.exception("worker_failed")
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _serve(self) -> None:
        started = time.monotonic()
        settings = self.settings
        queue = WorkQueue(connect(settings.redis_url), settings, worker=self.worker, is_renewing=True)
        queue.sweep(lost_worker=self.worker, message=self.lost.reason, is_over_limit=self.lost.is_over_limit)
        drainer = Drainer(queue, settings.steps or GROUPS, self.factory(queue), self.stopwatch)
        serve = _long_lane if settings.lane == "long" else _direct_lane
        act = serve(f"{self.worker}-{os.getpid()}", settings, drainer)
        if self.is_stopping():
            return
        _limit_memory(settings.run_memory_bytes)
        threading.Thread(target=self._sweep_or_die, args=(queue,), daemon=True).start()
        took_ms = int((time.monotonic() - started) * 1000)
        log.info("worker_ready", worker=self.worker, lane=settings.lane, groups=list(drainer.groups), took_ms=took_ms)
        self.lifeline.send(b"r")
        while not drainer.is_stopping:
            act()

    def _sweep_or_die(self, queue: WorkQueue) -> NoReturn:
        """Sweep in a thread. A worker whose leases nobody renews must not go on, so any other exception ends it."""
        code = 1
        try:
            sweep_forever(queue, self.health.heartbeat, lambda: self._look_after_long_run(queue))
        except MemoryError:
            code = _OUT_OF_MEMORY
        except Exception:
            log.exception("sweeper_failed", worker=queue.worker)
            sys.stderr.flush()
        finally:
            os._exit(code)

    def _look_after_long_run(self, queue: WorkQueue) -> None:
        """Show how far the run is; end it if a person canceled it."""
        claim, limit = queue.running, self.settings.long_seconds
        if claim is None or claim.lane != "long":
            return
        from eventing.workqueue import rq_long

        if rq_long.is_canceled(queue.client, claim) and queue.cancel(claim):
            log.warning("run_canceled", step=claim.step, ref=str(claim.ref))
            os._exit(0)
        if (left := self.stopwatch.left(limit)) < math.inf:
            rq_long.note_progress(queue.client, claim, limit - left, limit)

    def _die_with_parent(self) -> None:
        self.lifeline.recv(1)  # returns when the parent has ended
        os._exit(1)


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
    """Queue due jobs, take back lost leases and renew the own one, until Redis says no for a reason that does not pass.

    Decision: such a reason (a script that is broken, a right that is missing) ends the program, and its restarts and
    probes show it. Turned down: to try each second, when a worker looks well though nobody renews its leases.
    """
    while True:
        heartbeat.tries()
        try:
            seconds = queue.sweep()
            heartbeat.answered(REDIS)
            also()
            queue.wait_for_alarm(seconds)
        except REFUSED as error:  # why: in a worker this is a thread, which nobody would start again
            if not is_temporary(error):
                raise
            log.warning("redis_refuses", error=str(error))
            time.sleep(_PAUSE_SECONDS)
