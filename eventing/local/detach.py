"""Runs the supervisor in the background, and stops it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

from eventing.local.state import StateDirectory, is_alive
from eventing.local.supervisor import START_SECONDS, STOP_SECONDS, StartError
from eventing.local.tie import TIED


def start_detached(directory: StateDirectory, words: Sequence[str], *, tied: bool = False) -> subprocess.Popen[bytes]:
    """Run `olmf <words>` in a session of its own and wait until it is ready. StartError with the end of its log.

    A tied supervisor ends with this process, however that ends.
    """
    directory.make()
    log = directory.logs / "supervisor.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "eventing.cli.main", *words],
            stdin=subprocess.PIPE if tied else subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            env={**os.environ, **({TIED: "1"} if tied else {})},
        )
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        addresses = directory.read()
        if addresses and addresses.ready and addresses.supervisor == process.pid:
            return process
        if process.poll() is not None:
            break
        time.sleep(0.02)
    process.terminate()
    process.wait()
    raise StartError("\n".join(log.read_text(errors="replace").splitlines()[-12:]))


def stop(directory: StateDirectory) -> bool:
    """End the supervisor and wait until it is gone. False when none was running."""
    addresses = directory.read()
    if addresses is None:
        return False
    os.kill(addresses.supervisor, signal.SIGTERM)
    deadline = time.monotonic() + 3 * STOP_SECONDS
    while is_alive(addresses.supervisor) and time.monotonic() < deadline:
        time.sleep(0.02)
    if is_alive(addresses.supervisor):
        os.kill(addresses.supervisor, signal.SIGKILL)  # its programs end with it
    return True
