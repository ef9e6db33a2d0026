"""Runs `olmf`, each verb in a process of its own, forked from an interpreter that has imported the command line once.

A new interpreter needs up to half a second of the processor before its verb begins, and tests run hundreds of verbs.
What they see is the same: words, variables, standard input, both outputs, the exit code, and a process to be killed.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from tests.kit.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).parents[2]


def olmf(
    *words: str | Path,
    environ: Mapping[str, str] | None = None,
    stdin: str | bytes = "",
    folder: Path | None = None,
    seconds: float = PATIENCE_SECONDS,
) -> subprocess.CompletedProcess[str]:
    """Run one verb to its end; `environ` are all its variables, ours without it. TimeoutExpired after `seconds`."""
    arguments = [str(word) for word in words]
    request = {"words": arguments, "environ": dict(environ or os.environ), "folder": str(folder or Path.cwd())}
    ours, theirs = socket.socketpair()
    with ours, TemporaryFile() as source, TemporaryFile() as out, TemporaryFile() as err:
        source.write(stdin if isinstance(stdin, bytes) else stdin.encode())
        source.seek(0)
        with theirs:
            files = [theirs.fileno(), source.fileno(), out.fileno(), err.fileno()]
            socket.send_fds(_server(), [json.dumps(request).encode()], files)
        ours.settimeout(seconds)
        with ours.makefile("r") as answers:
            pid = int(answers.readline())
            try:
                code = int(answers.readline())
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(arguments, seconds, _read(out), _read(err)) from None
        return subprocess.CompletedProcess(arguments, code, _read(out), _read(err))


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


@cache
def _server() -> socket.socket:
    """Where requests go; the server ends with this process."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = (sys.executable, "-m", "tests.kit.verb_server", str(theirs.fileno()))
        server = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, cwd=ROOT)

    def end() -> None:
        ours.close()
        server.wait()

    atexit.register(end)
    return ours
