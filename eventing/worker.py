"""The worker: a parent process that enforces timeouts, and a child process that runs the queued jobs through RQ.

The child is crash-only. Any failure that it cannot handle (Redis unavailable, a run beyond its time, a kill) ends it;
the parent starts another one, which first takes back the jobs of its predecessor. No step runs in a process that is
being stopped.

Turned down: letting the adder of a job enqueue an RQ job when no worker waits. It costs 2 ms for each wake-up, every
adder would import RQ, and after a FLUSHALL no worker would wake. Here one RQ job keeps waiting for the queue's signal.
"""

from __future__ import annotations

import math
import os
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias, TypeVar

import structlog

from eventing.health import REDIS, Health, Heartbeat
from eventing.routes import STEPS, Job
from eventing.run_result import RunResult
from eventing.stopwatch import Stopwatch
from eventing.workqueue import REFUSED, UNREACHABLE, Claim, WorkQueue, connect, is_paused
from shared.config import Settings
from shared.kinds import Ref

Run: TypeAlias = Callable[[Claim], RunResult]
"""Runs the step of a claim; does not finish the claim, and raises nothing."""
Factory: TypeAlias = Callable[[WorkQueue], Run]
"""Makes a `Run` inside the child, so that the parent need not import what steps need."""

GROUPS = tuple(dict.fromkeys(step.partition("/")[0] for step in STEPS))
DRAIN_SECONDS = 60
DRAIN_KEYS = 20_000
_GRACE_SECONDS = 10
_LOOK_SECONDS = 1
_LONGEST_PAUSE_SECONDS = 2
_PAUSE_SECONDS = 1

log = structlog.get_logger()


T = TypeVar("T")


class _Stop(Exception):
    """Raised by a signal, only while the drainer waits for jobs."""


@dataclass(slots=True)
class Drainer:
    """Runs the jobs of some groups, one after the other."""

    queue: WorkQueue
    groups: Sequence[str]
    run: Run
    stopwatch: Stopwatch = field(default_factory=Stopwatch)
    patience_seconds: float = math.inf
    """How long it waits for a Redis that accepts no changes."""
    is_stopping: bool = False
    _is_waiting: bool = False

    def drain(self, *, keys: int = DRAIN_KEYS, seconds: float = DRAIN_SECONDS, linger: float = DRAIN_SECONDS) -> int:
        """Run jobs until none came for `linger` seconds, or the limits are reached; returns how many ran."""
        now = time.monotonic()
        deadline, patient_until, ran = now + seconds, now + linger, 0
        while not self.is_stopping and ran < keys and (now := time.monotonic()) < deadline:
            if claim := self._patiently(lambda: self.queue.claim(self.groups)):
                self._run(claim)
                ran, patient_until = ran + 1, time.monotonic() + linger
            elif now < patient_until:
                self._wait(min(patient_until, deadline) - now)
            else:
                break
        return ran

    def stop(self, *_: object) -> None:
        """Signal handler: end after the present run."""
        self.is_stopping = True
        if self._is_waiting:
            raise _Stop

    def _wait(self, seconds: float) -> None:
        try:
            self._is_waiting = True
            if not self.is_stopping:
                self.queue.wait(self.groups, seconds)
            self._is_waiting = False
        except _Stop:
            self._is_waiting = False

    def _run(self, claim: Claim) -> None:
        self.stopwatch.start()
        try:
            result = self.run(claim)
        except UNREACHABLE:
            raise
        except Exception as error:  # an exception of the runner counts as a bug, like one of a step
            log.exception("runner_failed", step=claim.step, ref=str(claim.ref), attempt=claim.attempt)
            result = _failed(error)
        finally:
            self.stopwatch.stop()
        if not self._finish(claim, result):
            log.warning("lease_lost", step=claim.step, ref=str(claim.ref), attempt=claim.attempt)

    def _finish(self, claim: Claim, result: RunResult) -> bool:
        try:
            return self._patiently(lambda: self.queue.finish(claim, result))
        except UNREACHABLE:
            raise
        except Exception as error:  # what a step returned cannot be stored: a bug of that run, not of this worker
            log.exception("result_refused", step=claim.step, ref=str(claim.ref), attempt=claim.attempt)
            failed = _failed(error)
            return self._patiently(lambda: self.queue.finish(claim, failed))

    def _patiently(self, act: Callable[[], T]) -> T:
        """Repeat a call for as long as Redis accepts no changes: until then the queue pauses."""
        until = time.monotonic() + self.patience_seconds
        while True:
            try:
                return act()
            except REFUSED as error:
                if not is_paused(error) or time.monotonic() > until:
                    raise
                log.warning("redis_refuses", error=str(error))
                time.sleep(_PAUSE_SECONDS)


def _failed(error: Exception) -> RunResult:
    if is_paused(error):
        return RunResult(run_id="", record=b"", failure="retry", message=f"Redis accepts no changes: {error}")
    return RunResult(run_id="", record=b"", failure="bug", message=f"{type(error).__name__}: {error}")


def work(
    settings: Settings, factory: Factory, on_ready: Callable[[], None] = lambda: None, health: Health | None = None
) -> int:
    """`olmf run worker`: run until SIGTERM or SIGINT; returns the exit code. Call it before the process has threads."""
    return _Parent(settings, factory, on_ready, health or Health()).run()


@dataclass(slots=True)
class _Parent:
    settings: Settings
    factory: Factory
    on_ready: Callable[[], None]
    health: Health
    name: str = field(default_factory=lambda: worker_name())
    stopwatch: Stopwatch = field(default_factory=Stopwatch)
    child: int = 0
    is_ready: bool = False
    stop_by: float = 0.0

    def run(self) -> int:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        lost, false_starts = "", 0
        while not self.stop_by:
            lost = self._one_child(lost)
            if self.stop_by:
                break
            false_starts = 0 if self.is_ready else false_starts + 1
            log.warning("worker_restarts", reason=lost, false_starts=false_starts)
            if false_starts:
                time.sleep(min(0.05 * 2**false_starts, _LONGEST_PAUSE_SECONDS))
        return 0

    def _stop(self, *_: object) -> None:
        self.stop_by = self.stop_by or time.monotonic() + _GRACE_SECONDS
        if self.child:
            with suppress(ProcessLookupError):
                os.kill(self.child, signal.SIGTERM)

    def _one_child(self, lost: str) -> str:
        """Start a child and wait for its end; returns why it ended."""
        ours, theirs = socket.socketpair()
        self.stopwatch.stop()
        self.is_ready = False
        self.child = os.fork()
        if not self.child:
            ours.close()
            _be_child(self, theirs, lost)
        theirs.close()
        if self.stop_by:
            os.kill(self.child, signal.SIGTERM)
        with ours:
            reason = self._watch(ours)
        _, status = os.waitpid(self.child, 0)
        self.child = 0
        code = os.waitstatus_to_exitcode(status)
        return reason or (
            f"its worker died of {signal.Signals(-code).name}" if code < 0 else f"its worker exited ({code})"
        )

    def _watch(self, child: socket.socket) -> str:
        """Wait for the end of the child, or kill it; returns the reason if it was killed here."""
        limit = self.settings.run_seconds
        while True:
            if self.health.wait(child, max(0.0, min(self.stopwatch.left(limit), _LOOK_SECONDS)), is_up=self.is_ready):
                if not child.recv(1):
                    return ""
                self.is_ready = True
                self.on_ready()
            if self.stopwatch.left(limit) <= 0:
                os.kill(self.child, signal.SIGKILL)
                return f"ended after {limit} s: its time limit"
            if self.stop_by and time.monotonic() > self.stop_by:
                os.kill(self.child, signal.SIGKILL)
                return "ended: the worker had to stop"


def _be_child(parent: _Parent, lifeline: socket.socket, lost: str) -> NoReturn:
    code = 1
    try:
        threading.Thread(target=_die_with, args=(lifeline,), daemon=True).start()
        parent.health.begin_child()
        _serve(parent, lifeline, lost)
        code = 0
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


def _die_with(lifeline: socket.socket) -> None:
    lifeline.recv(1)  # returns when the parent has ended
    os._exit(1)


def _serve(parent: _Parent, lifeline: socket.socket, lost: str) -> None:
    from eventing.workqueue.rq_jobs import DRAIN, RETRY, Act, DrainWorker

    started = time.monotonic()
    settings, name = parent.settings, parent.name
    queue = WorkQueue(connect(settings.redis_url), settings, worker=name, is_renewing=True)
    queue.sweep(lost_worker=name, message=lost or "its worker was started again")
    drainer = Drainer(queue, settings.steps or GROUPS, parent.factory(queue), parent.stopwatch)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, drainer.stop)
    if parent.stop_by:
        return
    threading.Thread(target=_sweep_or_die, args=(queue, parent.health.heartbeat), daemon=True).start()
    acts: dict[str, Act] = {
        DRAIN: drainer.drain,
        RETRY: lambda step, ref: queue.retry_dead([Job(step, Ref.parse(ref))]),
    }
    client = connect(settings.redis_url)
    log.info("worker_ready", worker=name, groups=list(drainer.groups), took_ms=int((time.monotonic() - started) * 1000))
    lifeline.send(b"r")
    while not drainer.is_stopping:
        DrainWorker(client, f"{name}-{os.getpid()}", acts).drain()


def sweep_forever(queue: WorkQueue, heartbeat: Heartbeat, also: Callable[[], object] = lambda: None) -> NoReturn:
    """Queue due jobs, take back lost leases and renew the own one, for ever."""
    while True:
        heartbeat.tries()
        try:
            seconds = queue.sweep()
            heartbeat.answered(REDIS)
            also()
            queue.wait_for_alarm(seconds)
        except REFUSED as error:  # why: in a worker this is a thread, which nobody would start again
            log.warning("redis_refuses", error=str(error))
            time.sleep(1)


def _sweep_or_die(queue: WorkQueue, heartbeat: Heartbeat) -> NoReturn:
    """Sweep in a thread. A worker whose leases nobody renews must not go on, so any other exception ends it."""
    try:
        sweep_forever(queue, heartbeat)
    except BaseException:
        log.exception("sweeper_failed", worker=queue.worker)
        sys.stderr.flush()
    finally:
        os._exit(1)


def worker_name() -> str:
    """A name that no other claimer has."""
    # Neither host nor pid is enough: the containers of a pod share the one and may all have the pid 1.
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}"
