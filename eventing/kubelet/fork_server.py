"""A warm interpreter that forks one process per program: `python -m eventing.kubelet.fork_server`.

Requests and answers are JSON lines on standard input and output:
`{"run": ID, "arguments": […], "environ": {…}, "log": PATH}` is answered, when the process has ended, by
`{"ended": ID, "code": N}`; `{"kill": ID}` ends it early. When standard input closes, all processes are killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import selectors
import signal
import sys
from typing import Any

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Serve until standard input closes."""
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    _warm_up()
    # why: Ctrl-C in a terminal reaches the whole group; the kubelet decides what ends
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    server = _Server(libc)
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
    server.kill_all()


def _warm_up() -> None:
    """Import what every program needs; nothing here may start a thread or open a connection."""
    import ssl

    import eventing.cli.main
    import eventing.unpack
    import shared.adapters.kube

    _ = eventing.cli.main, eventing.unpack, shared.adapters.kube, ssl


class _Server:
    def __init__(self, libc: Any) -> None:
        self._libc = libc
        self._running: dict[int, str] = {}
        self._rest = b""
        self.is_open = True

    def read(self) -> None:
        chunk = os.read(0, 65536)
        if not chunk:
            self.is_open = False
            return
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            request = json.loads(line)
            if "kill" in request:
                self._kill(request["kill"])
            else:
                self._start(request)

    def reap(self) -> None:
        for pid in list(self._running):
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                answer = {"ended": self._running.pop(pid), "code": os.waitstatus_to_exitcode(status)}
                os.write(1, json.dumps(answer).encode() + b"\n")

    def kill_all(self) -> None:
        for name in list(self._running.values()):
            self._kill(name)

    def _kill(self, wanted: str) -> None:
        for pid, name in self._running.items():
            if name == wanted:
                # why: not yet reaped, so the pid is still its own; its group, for what it started itself
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)

    def _start(self, request: dict[str, Any]) -> None:
        parent = os.getpid()
        pid = os.fork()
        if pid:
            with contextlib.suppress(OSError):
                os.setpgid(pid, pid)
            self._running[pid] = request["run"]
            return
        code = 1
        try:
            self._become(request, parent)
            code = _call(request["arguments"])
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _become(self, request: dict[str, Any], parent: int) -> None:
        """Turn the fork into the program's own process."""
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        if self._libc is not None:
            self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        os.environ.clear()
        os.environ.update(request["environ"])
        log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        null = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((null, 0), (log, 1), (log, 2)):
            os.dup2(source, target)


def _call(arguments: list[str]) -> int:
    from eventing.cli.main import main as olmf

    # why: or else usage messages would speak of this module
    sys.modules["__main__"].__package__ = ""
    sys.argv = ["olmf", *arguments]
    try:
        olmf()
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
            return 1
        return end.code or 0
    except BaseException:  # noqa: BLE001  # why: like an interpreter, which prints and exits with 1
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


if __name__ == "__main__":
    main()
