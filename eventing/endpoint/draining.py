"""A worker process beside the endpoint, and the wait until it has worked the queue off.

On Knative a Service drains its queue before it replies. The steps run in a worker like any other, with its time limits
and several at a time, and not in the threads that answer requests: those only ask the queue how much is left.

Turned down: running the steps in the endpoint's process under a lock, where nothing ends a step that hangs.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence

import structlog

POLL_SECONDS = 0.02
GRACE_SECONDS = 12.0
"""How long the worker may take to end; it gives its run ten seconds itself."""
RESTART_SECONDS = 1.0
"""A worker is not started again sooner than that after its start."""
log = structlog.get_logger()


class Waiting:
    """Waits until nothing is left to do; one thread waits for all, the others return at once.

    The one that waits looks again for whoever came meanwhile, so that their jobs are not left behind either.
    """

    def __init__(self, is_left: Callable[[], bool], seconds: float) -> None:
        """`is_left` says whether there is work; nobody waits longer than `seconds`."""
        self._is_left = is_left
        self._seconds = seconds
        self._lock = threading.Lock()
        self._is_asked = self._is_waiting = False

    def __call__(self) -> None:
        """Wait, unless another thread does."""
        with self._lock:
            self._is_asked = True
            if self._is_waiting:
                return
            self._is_waiting = True
        deadline = time.monotonic() + self._seconds
        try:
            while self._is_asked_again():
                while self._is_left() and time.monotonic() < deadline:
                    time.sleep(POLL_SECONDS)
        except BaseException:
            with self._lock:
                self._is_waiting = False
            raise

    def _is_asked_again(self) -> bool:
        with self._lock:
            self._is_waiting, self._is_asked = self._is_asked, False
            return self._is_waiting


class CompanionProcess:
    """A process that runs as long as this one, and is started again when it ends.

    Its standard input is a pipe of ours: it ends itself when that is closed, also when we are killed.
    """

    def __init__(self, command: Sequence[str], environ: Mapping[str, str]) -> None:
        self._command = tuple(command)
        self._environ = {**os.environ, **environ}
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._started = -RESTART_SECONDS

    def ensure(self) -> None:
        """Start the process unless it runs."""
        with self._lock:
            if self._process is not None and (code := self._process.poll()) is not None:
                log.warning("worker_ended", code=code)
                _close(self._process)
                self._process = None
            if self._process is None and time.monotonic() - self._started >= RESTART_SECONDS:
                self._started = time.monotonic()
                self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, env=self._environ)

    def stop(self) -> None:
        """End the process, after its present work if that does not take long."""
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        _close(process)
        try:
            process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _close(process: subprocess.Popen[bytes]) -> None:
    if process.stdin:
        process.stdin.close()
