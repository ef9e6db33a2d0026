"""What a program does for its supervisor: end with it, and say when it is ready."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

from eventing.local.state import write_json

TIED = "OLMF_TIED"
"""Set by the supervisor: standard input is its lifeline."""
READY_FILE = "OLMF_READY_FILE"
"""Set by the supervisor: where to say that the program is ready."""


def tie_to_supervisor() -> None:
    """End this process (SIGTERM to itself) as soon as the supervisor is gone, however it went."""
    if os.environ.get(TIED):
        threading.Thread(target=_wait_for_the_end, name="lifeline", daemon=True).start()


def _wait_for_the_end() -> None:
    while os.read(0, 64):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def announce(address: str = "", *, probe: str = "") -> None:
    """Say that this program is ready, where it is, and which URL tells that it works."""
    if place := os.environ.get(READY_FILE):
        write_json(Path(place), {"pid": os.getpid(), "address": address, "probe": probe})
