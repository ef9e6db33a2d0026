"""Runs the supervisor in the background, and stops it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from eventing.local.processes.interrupt import Interrupt
from eventing.local.processes.parent_watch import WATCH_PARENT
from eventing.local.processes.supervisor import START_SECONDS, STOP_SECONDS, StartError
from eventing.local.state import StateDirectory, is_alive

POLL_SECONDS = 0.02
_PATIENCE_SECONDS = 3 * START_SECONDS
"""Longer than the supervisor itself waits, because its message says which program is missing."""


def start_detached(
    directory: StateDirectory, words: Sequence[str], interrupt: Interrupt, *, watches_parent: bool = False
) -> subprocess.Popen[bytes]:
    """Run `olmf <words>` in its own session and wait until it is ready. StartError with the end of its log.

    With `watches_parent` the supervisor ends when its standard input is closed: with this process, or when the returned
    object is collected. An interrupt during the start ends it, too.
    """
    directory.make()
    log = directory.logs / "supervisor.log"
    with log.open("ab") as output:
        begin = output.tell()
        process = subprocess.Popen(
            [sys.executable, "-m", "eventing.cli.main", *words],
            stdin=subprocess.PIPE if watches_parent else subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            env={**os.environ, **({WATCH_PARENT: "1"} if watches_parent else {})},
        )
    try:
        if _becomes_ready(directory, process, interrupt):
            return process
    except KeyboardInterrupt:
        _end(process)
        raise
    _end(process)
    raise StartError(_last_words(log, begin), max(process.returncode, 0))


def _last_words(log: Path, begin: int) -> str:
    """The error message of a program, else the last lines of its log."""
    with log.open(errors="replace") as file:
        file.seek(begin)
        text = file.read()
    _, _, sentence = f"\n{text}".rpartition("\nolmf: ")
    return sentence.strip() or "\n".join(text.splitlines()[-12:])


def _becomes_ready(directory: StateDirectory, process: subprocess.Popen[bytes], interrupt: Interrupt) -> bool:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        interrupt.check()
        addresses = directory.read()
        if addresses and addresses.ready and addresses.supervisor == process.pid:
            return True
        time.sleep(POLL_SECONDS)
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(3 * STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()  # its programs end with it
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
