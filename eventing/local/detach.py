"""Runs the supervisor in the background, and stops it."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from eventing.local.processes.forking import Child, fork
from eventing.local.processes.interrupt import Interrupt
from eventing.local.processes.parent_watch import WATCH_PARENT
from eventing.local.processes.supervisor import START_SECONDS, STOP_SECONDS, WARM, StartError
from eventing.local.state import StateDirectory, is_alive

POLL_SECONDS = 0.02
_PATIENCE_SECONDS = 3 * START_SECONDS
"""Longer than the supervisor itself waits, because its message says which program is missing."""


def start_detached(
    directory: StateDirectory, words: Sequence[str], interrupt: Interrupt, *, watches_parent: bool = False
) -> Child:
    """Fork `olmf <words>` in its own session and wait until it is ready. StartError with the end of its log.

    With `watches_parent` the supervisor ends when its standard input is closed: with this process, or by the returned
    object. An interrupt during the start ends it, too.
    """
    directory.make()
    log = directory.logs / "supervisor.log"
    with log.open("ab") as output:
        begin = output.tell()
        process = _fork(words, output.fileno(), watches_parent=watches_parent)
    try:
        if _becomes_ready(directory, process, interrupt):
            return process
    except KeyboardInterrupt:
        _end(process)
        raise
    _end(process)
    raise StartError(_last_words(log, begin), max(process.wait(), 0))


def _fork(words: Sequence[str], log: int, *, watches_parent: bool) -> Child:
    def run() -> None:
        sys.argv = ["olmf", *words]
        importlib.import_module(WARM[0]).main()

    source, ours = os.pipe()
    environ = {**os.environ, **({WATCH_PARENT: "1"} if watches_parent else {})}
    pid = fork(run, (source, log, log), environ, closes=[ours], is_apart=True)
    os.close(source)
    process = Child(pid, stdin=ours)
    if not watches_parent:
        process.close()
    return process


def _last_words(log: Path, begin: int) -> str:
    """The error message of a program, else the last lines of its log."""
    with log.open(errors="replace") as file:
        file.seek(begin)
        text = file.read()
    _, _, sentence = f"\n{text}".rpartition("\nolmf: ")
    return sentence.strip() or "\n".join(text.splitlines()[-12:])


def _becomes_ready(directory: StateDirectory, process: Child, interrupt: Interrupt) -> bool:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        interrupt.check()
        addresses = directory.read()
        if addresses and addresses.ready and addresses.supervisor == process.pid:
            return True
        time.sleep(POLL_SECONDS)
    return False


def _end(process: Child) -> None:
    process.send(signal.SIGTERM)
    try:
        process.wait(3 * STOP_SECONDS)
    except TimeoutError:
        process.send(signal.SIGKILL)  # its programs end with it
        process.wait()


def stop(directory: StateDirectory) -> bool:
    """End the supervisor and wait for its end; False when none was running."""
    addresses = directory.read()
    if addresses is None:
        return False
    with contextlib.suppress(ProcessLookupError):  # it ended meanwhile
        os.kill(addresses.supervisor, signal.SIGTERM)
    deadline = time.monotonic() + 4 * STOP_SECONDS  # its programs end one after the other, then it leaves the cluster
    while is_alive(addresses.supervisor) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    if directory.is_claimed():
        os.kill(addresses.supervisor, signal.SIGKILL)  # its programs end with it
    return True
