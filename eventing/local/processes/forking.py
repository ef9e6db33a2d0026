"""Forks this process for other work: what it has imported need not be imported again.

Only a process without other threads may do that. A fork sees the signals, standard streams and variables that a
new interpreter would see, and ends as one would.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Collection, Mapping
from typing import Never, Self

from eventing.local.processes.interrupt import ending_signals

_POLL_SECONDS = 0.02
_STDERR = 2


class Child:
    """A process that was forked; `with` waits for its end, as that of `subprocess.Popen` does."""

    def __init__(self, pid: int, stdin: int | None = None) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._stdin = stdin

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, seconds: float = float("inf")) -> int:
        """Wait for its end. TimeoutError."""
        deadline = time.monotonic() + seconds
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"process {self.pid} did not end within {seconds} s")
            time.sleep(_POLL_SECONDS)
        return code

    def send(self, number: int) -> None:
        """Send it a signal, if it runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def close(self) -> None:
        """Close its standard input, if we hold it."""
        if self._stdin is not None:
            os.close(self._stdin)
            self._stdin = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self.wait()


def fork(
    work: Callable[[], object],
    streams: tuple[int, int, int],
    environ: Mapping[str, str],
    *,
    closes: Collection[int] = (),
    is_apart: bool = False,
) -> int:
    """Fork a process that does `work` and ends; returns its pid.

    `streams` are the files of its standard streams. It keeps what this process has opened but those that it `closes`,
    for instance our end of a pipe. What this process was given it does not keep: the lock of a script, for example,
    would be held as long as the fork runs. `is_apart` gives it a session of its own.
    """
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    # why: a signal for the fork that came before it has its own handlers would be lost in ours
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ending_signals())
    try:
        pid = os.fork()
        if pid:
            return pid
        end_after(lambda: _work_as_new(work, streams, environ, before, closes=closes, is_apart=is_apart))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work_as_new(
    work: Callable[[], object],
    streams: tuple[int, int, int],
    environ: Mapping[str, str],
    mask: Collection[int],
    *,
    closes: Collection[int],
    is_apart: bool,
) -> None:
    gc.freeze()  # why: what is freed later must not close a file that is not its own any more
    if is_apart:
        os.setsid()
    kept = [os.dup(stream) for stream in streams]
    for number, file in enumerate(kept):
        os.dup2(file, number)
    for file in {*kept, *closes, *_inherited()}:
        os.close(file)
    variables = dict(environ)
    os.environ.clear()
    os.environ.update(variables)
    signal.set_wakeup_fd(-1)
    for ending in ending_signals():
        signal.signal(ending, signal.default_int_handler if ending == signal.SIGINT else signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    work()


def _inherited() -> list[int]:
    """The files beside the standard streams that this process was given: what Python opens is not inheritable."""
    with os.scandir("/dev/fd") as found:
        return [
            number for number in (int(one.name) for one in found) if number > _STDERR and os.get_inheritable(number)
        ]


def end_after(work: Callable[[], object]) -> Never:
    """Do `work` and end this process as an interpreter would after it: with its exit code, or a traceback."""
    code = 1
    try:
        work()
        code = 0
    except SystemExit as end:
        code = _code_of(end)
    except BaseException:  # noqa: BLE001  # why: like an interpreter, which prints and exits with 1
        sys.excepthook(*sys.exc_info())
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def _code_of(end: SystemExit) -> int:
    if isinstance(end.code, str):
        sys.stderr.write(f"{end.code}\n")
        return 1
    return end.code or 0
