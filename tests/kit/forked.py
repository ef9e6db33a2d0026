"""Runs a program of the tests in a process of its own, forked from an interpreter that has imported it once.

A new interpreter needs up to a second of the processor before such a program begins, and tests run a hundred of them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Mapping
from multiprocessing.context import ForkServerProcess
from subprocess import TimeoutExpired

from eventing.cli import main as main_module
from tests.kit.waiting import PATIENCE_SECONDS

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.eventing.worker.program", "eventing.cli.run", "eventing.wiring.endpoint"])


class Program:
    """A process that runs `main` with what it is given; the words are those of `subprocess.Popen`."""

    def __init__(self, main: Callable[..., int], *arguments: object) -> None:
        self._process: ForkServerProcess = _CONTEXT.Process(target=_end_with, args=(main, *arguments))
        self._process.start()
        self.pid = self._process.pid or 0

    def send_signal(self, number: int) -> None:
        """Nothing happens if it has ended."""
        if self._process.is_alive():
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Tell it to stop."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def poll(self) -> int | None:
        """Its exit code, minus the number of the signal that ended it, None while it runs."""
        return self._process.exitcode

    def wait(self, seconds: float = PATIENCE_SECONDS) -> int:
        """The same, at its end. TimeoutExpired after that time."""
        self._process.join(seconds)
        if (code := self.poll()) is None:
            raise TimeoutExpired(str(self._process), seconds)
        return code


def olmf(environ: Mapping[str, str], *words: str) -> int:
    """A `main` that runs the command line with exactly these variables."""
    os.environ.clear()
    os.environ.update(environ)
    sys.argv = ["olmf", *words]
    main_module.main()
    return 0


def _end_with(main: Callable[..., int], *arguments: object) -> None:
    """What runs in the process: its exit code is what `main` returns."""
    raise SystemExit(main(*arguments))
