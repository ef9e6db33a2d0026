"""Runs `olmf`, each verb in a process of its own, forked from an interpreter that has imported the command line once.

A new interpreter needs up to half a second of the processor before its verb begins, and tests run hundreds of verbs.
What they see is the same: words, variables, standard input, both outputs, the exit code, and a process to be killed.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Self

from tests.kit.waiting import PATIENCE_SECONDS

OLMF = "eventing.cli.main"
ROOT = Path(__file__).parents[2]


def olmf(
    *words: str | Path,
    environ: Mapping[str, str] | None = None,
    stdin: str | bytes = "",
    folder: Path | None = None,
    seconds: float = PATIENCE_SECONDS,
    program: str = OLMF,
) -> subprocess.CompletedProcess[str]:
    """Run one verb to its end; `environ` are all its variables, ours without it. TimeoutExpired after `seconds`.

    `program` is the module of another main function, which gets the words.
    """
    arguments = [str(word) for word in words]
    with TemporaryFile() as source, TemporaryFile() as out, TemporaryFile() as err:
        source.write(stdin if isinstance(stdin, bytes) else stdin.encode())
        source.seek(0)
        with Started(arguments, (source.fileno(), out.fileno(), err.fileno()), environ, folder, program) as verb:
            try:
                code = verb.wait(seconds)
            except TimeoutError:
                verb.send(signal.SIGKILL)
                raise subprocess.TimeoutExpired(arguments, seconds, _read(out), _read(err)) from None
        return subprocess.CompletedProcess(arguments, code, _read(out), _read(err))


class Started:
    """A verb that runs, with these files as its standard streams."""

    def __init__(
        self,
        words: Sequence[str],
        streams: tuple[int, int, int],
        environ: Mapping[str, str] | None = None,
        folder: Path | None = None,
        program: str = OLMF,
    ) -> None:
        place, variables = str(folder or Path.cwd()), dict(environ or os.environ)
        request = {"words": list(words), "environ": variables, "folder": place, "program": program}
        self._ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(_server(), [json.dumps(request).encode()], [theirs.fileno(), *streams])
        self._answers = self._ours.makefile("r")
        self.pid = int(self._answers.readline())
        self._code: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._answers.close()
        self._ours.close()

    def send(self, number: int) -> None:
        """Send it a signal, if it runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def poll(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return self._ended(0)

    def wait(self, seconds: float = PATIENCE_SECONDS) -> int:
        """The same, at its end. TimeoutError."""
        if (code := self._ended(seconds)) is None:
            raise TimeoutError(f"process {self.pid} did not end within {seconds} s")
        return code

    def _ended(self, seconds: float) -> int | None:
        if self._code is None and select.select([self._ours], [], [], seconds)[0]:
            self._code = int(self._answers.readline())
        return self._code


@contextmanager
def running(*words: str, environ: Mapping[str, str] | None = None) -> Iterator[Started]:
    """A verb beside the test, with our outputs; it is killed in the end if it is still there."""
    with open(os.devnull) as nothing, Started(words, (nothing.fileno(), 1, 2), environ) as verb:  # noqa: PTH123
        try:
            yield verb
        finally:
            verb.send(signal.SIGKILL)
            verb.wait()


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
