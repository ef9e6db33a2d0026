"""The interpreter of which verbs are forked: `python -m tests.kit.verb_server SOCKET` (`verbs.py` asks it)."""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import sys
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import Any, NoReturn, TextIO

import eventing.cli
import eventing.wiring
import functions
from eventing.cli import main as main_module
from eventing.local.kubelet import program
from eventing.local.processes import supervisor
from eventing.local.processes.forking import end_after

LARGEST_REQUEST = 256 * 1024
STDOUT, STDERR = 1, 2
INSTALLATIONS = (["up"], ["demo"])


def main() -> None:
    """Serve until the other end of the socket closes."""
    _import_all_of(eventing.cli)
    gc.freeze()
    requests = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who wait for a verb
    while True:
        request, files, _, _ = socket.recv_fds(requests, LARGEST_REQUEST, 4)
        if not request:
            return
        asked = json.loads(request)
        if asked["words"][:1] in INSTALLATIONS:
            _prepare_installations()
        if os.fork() == 0:
            requests.close()
            _wait_for(asked, files)
        for file in files:
            os.close(file)


def _import_all_of(package: ModuleType) -> None:
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)


@cache
def _prepare_installations() -> None:
    """Import what their programs import one after the other."""
    for package in (eventing.wiring, functions):
        _import_all_of(package)
    for module in ("eventing.local.installation", *supervisor.WARM, *program.WARM):
        importlib.import_module(module)
    gc.freeze()


def _wait_for(request: dict[str, Any], files: Sequence[int]) -> NoReturn:
    """Run the verb in a process, and say its number, and its exit code when it has ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # `nohup` around the tests would make all verbs ignore it
    answers, *streams = files
    pid = os.fork()
    if pid == 0:
        os.close(answers)
        end_after(lambda: _become(request, streams))
    os.write(answers, f"{pid}\n".encode())
    _, status = os.waitpid(pid, 0)
    os.write(answers, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _anew(number: int, former: TextIO) -> TextIO:
    """A stream of what the file is now: the former one remembers whether its own could be searched."""
    buffering = 1 if number == STDERR or os.isatty(number) else -1
    return os.fdopen(number, "w", buffering, former.encoding, former.errors, closefd=False)


def _become(request: dict[str, Any], streams: Sequence[int]) -> None:
    """Run as the interpreter of that verb would."""
    for number, file in enumerate(streams):
        os.dup2(file, number)
        os.close(file)
    sys.stdout, sys.stderr = _anew(STDOUT, sys.stdout), _anew(STDERR, sys.stderr)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environ"])
    sys.argv = [str(main_module.__file__), *request["words"]]
    sys.modules["__main__"].__package__ = main_module.__package__  # as after `python -m eventing.cli.main`
    importlib.import_module(request["program"]).main()


if __name__ == "__main__":
    main()
