"""The worker: a parent process that enforces timeouts, and a child process that runs the queued jobs through RQ.

The child is crash-only. Any failure that it cannot handle (Redis unavailable, a run beyond its time, a kill) ends it;
the parent starts another one, which first takes back the jobs of its predecessor. No step runs in a process that is
being stopped.

Turned down: letting the adder of a job enqueue an RQ job when no worker waits. It costs 2 ms for each wake-up, every
adder would import RQ, and after a FLUSHALL no worker would wake. Here one RQ job keeps waiting for the queue's signal.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import structlog

from eventing.metrics.health import Health
from eventing.worker.child import Child, limit_seconds, loss_of, runs_at_once
from eventing.worker.drainer import Factory
from eventing.worker.stopwatch import Stopwatch
from eventing.workqueue import Loss
from shared.config import Settings

__all__ = ["work", "worker_name"]

_GRACE_SECONDS = 10
_POLL_SECONDS = 1
_LONGEST_PAUSE_SECONDS = 2

log = structlog.get_logger()


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
    stopwatch: Stopwatch = field(init=False)
    child: int = 0
    is_ready: bool = False
    stop_by: float = 0.0

    def __post_init__(self) -> None:
        self.stopwatch = Stopwatch(runs_at_once(self.settings))

    def run(self) -> int:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        loss, false_starts = Loss("its worker was started again"), 0
        while not self.stop_by:
            loss = self._one_child(loss)
            if self.stop_by:
                break
            false_starts = 0 if self.is_ready else false_starts + 1
            log.warning("worker_restarts", reason=loss.message, false_starts=false_starts)
            if false_starts:
                time.sleep(min(0.05 * 2**false_starts, _LONGEST_PAUSE_SECONDS))
        return 0

    def _stop(self, *_: object) -> None:
        self.stop_by = self.stop_by or time.monotonic() + _GRACE_SECONDS
        if self.child:
            with suppress(ProcessLookupError):
                os.kill(self.child, signal.SIGTERM)

    def _one_child(self, loss: Loss) -> Loss:
        """Start a child and wait for its end; returns why it ended."""
        ours, theirs = socket.socketpair()
        self.stopwatch.reset()
        self.is_ready = False
        self.child = os.fork()
        if not self.child:
            ours.close()
            self._child(theirs, loss).run()
        theirs.close()
        if self.stop_by:
            os.kill(self.child, signal.SIGTERM)
        with ours:
            reason = self._watch(ours)
        _, status = os.waitpid(self.child, 0)
        self.child = 0
        return reason or loss_of(os.waitstatus_to_exitcode(status), self.settings, self.stopwatch.present())

    def _child(self, parent_watch: socket.socket, loss: Loss) -> Child:
        return Child(
            self.settings, self.factory, self.name, self.stopwatch, self.health, parent_watch, loss,
            lambda: bool(self.stop_by),
        )  # fmt: skip

    def _watch(self, child: socket.socket) -> Loss | None:
        """Wait for the end of the child, or kill it; returns the reason if it was killed here."""
        limit = limit_seconds(self.settings)
        while True:
            if self.health.wait(child, max(0.0, min(self.stopwatch.left(limit), _POLL_SECONDS)), is_up=self.is_ready):
                if not child.recv(1):
                    return None
                self.is_ready = True
                self.on_ready()
            if self.stopwatch.left(limit) <= 0:
                late = self.stopwatch.late(limit)
                os.kill(self.child, signal.SIGKILL)
                return Loss(f"ended after {limit} s: its time limit", "limit", blamed=late)
            if self.stop_by and time.monotonic() > self.stop_by:
                os.kill(self.child, signal.SIGKILL)
                return Loss("ended: the worker had to stop")


def worker_name() -> str:
    """A name that no other claimer has."""
    # Neither host nor pid is enough: the containers of a pod share the one and may all have the pid 1.
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}"
