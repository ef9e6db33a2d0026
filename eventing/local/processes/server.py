"""The warm interpreter that forks one process per program (`python -m eventing.local.processes MODULE…`).

It imports the modules, then serves; a process is a call of `main()` of the first. Requests and answers are JSON lines
on standard input and output:
`{"run": NAME, "arguments": […], "environ": {…}, "log": PATH}` is answered by `{"started": NAME, "pid": N}` and, when
the process has ended, by `{"ended": NAME, "code": N}`; `{"signal": N, "to": NAME}` sends it a signal, and SIGKILL
also to all processes that it started. When standard input closes, all processes receive SIGTERM, then SIGKILL.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import selectors
import signal
import sys
import time
from collections.abc import Sequence
from typing import Any

from eventing.local.processes.forking import end_after

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
_PATIENCE_SECONDS = 5.0
"""How long the processes may take to end before they are killed."""
_POLL_SECONDS = 0.02


def serve(modules: Sequence[str]) -> None:
    """Import the modules and serve until standard input closes."""
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    _warm_up(modules)
    # why: Ctrl-C in a terminal reaches the whole group, but our parent process decides which process ends
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    server = _Server(libc, modules[0])
    with selectors.DefaultSelector() as selector:
        selector.register(0, selectors.EVENT_READ)
        selector.register(woken, selectors.EVENT_READ)
        while server.is_open:
            for key, _ in selector.select():
                if key.fd == 0:
                    server.read()
                else:
                    os.read(woken, 4096)
            server.reap()
    server.end()


def _warm_up(modules: Sequence[str]) -> None:
    """Import the modules of the programs; none of them may start a thread or open a connection."""
    for module in modules:
        importlib.import_module(module)
    gc.freeze()  # why: a collection would write to the pages that the processes share


class _Server:
    def __init__(self, libc: Any, program: str) -> None:
        self._libc = libc
        self._program = program
        self._running: dict[str, int] = {}
        """Pids by name, of processes that were not reaped yet, so that a pid cannot belong to another process."""
        self._rest = b""
        self.is_open = True

    def read(self) -> None:
        try:
            chunk = os.read(0, 65536)
        except ConnectionResetError:  # the parent ended before it had read every answer
            chunk = b""
        self.is_open = bool(chunk)
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            request = json.loads(line)
            if "run" in request:
                self._start(request)
            else:
                self._signal(request["to"], request["signal"])

    def reap(self) -> None:
        for name, pid in list(self._running.items()):
            ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is not None:
                self._signal(name, signal.SIGKILL)  # why: a killed process could not end the processes it started
                _, status = os.waitpid(self._running.pop(name), 0)
                _send({"ended": name, "code": os.waitstatus_to_exitcode(status)})

    def end(self) -> None:
        """End all processes, because the parent of this server has gone."""
        for name in self._running:
            self._signal(name, signal.SIGTERM)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while self._running and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
            self.reap()
        for name in self._running:
            self._signal(name, signal.SIGKILL)

    def _signal(self, name: str, number: int) -> None:
        if pid := self._running.get(name):
            with contextlib.suppress(ProcessLookupError):
                (os.killpg if number == signal.SIGKILL else os.kill)(pid, number)

    def _start(self, request: dict[str, Any]) -> None:
        parent = os.getpid()
        # why: we ignore SIGTERM, and so would the fork until it has become a program; blocked, it waits for that
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        pid = os.fork()
        if pid:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
            with contextlib.suppress(OSError):
                os.setpgid(pid, pid)
            self._running[request["run"]] = pid
            _send({"started": request["run"], "pid": pid})
            return
        end_after(lambda: self._run(request, parent))

    def _run(self, request: dict[str, Any], parent: int) -> None:
        self._become(request, parent)
        # why: otherwise usage messages would name this module
        sys.modules["__main__"].__package__ = ""
        sys.argv = ["olmf", *request["arguments"]]
        importlib.import_module(self._program).main()

    def _become(self, request: dict[str, Any], parent: int) -> None:
        """Turn the fork into the program's own process."""
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        if self._libc is not None:
            self._libc.prctl(_PR_SET_NAME, f"olmf {request['run']}".encode())
            self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        os.environ.clear()
        os.environ.update(request["environ"])
        log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        null = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((null, 0), (log, 1), (log, 2)):
            os.dup2(source, target)


def _send(answer: dict[str, Any]) -> None:
    with contextlib.suppress(BrokenPipeError):  # the parent has gone; the end of standard input says so, too
        os.write(1, json.dumps(answer).encode() + b"\n")
