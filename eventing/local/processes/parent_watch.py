"""Ends a program together with its supervisor, and announces when the program is ready."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Mapping
from pathlib import Path

from eventing.local.state import write_json

WATCH_PARENT = "OLMF_WATCH_PARENT"
"""Set by the supervisor: the program ends when its standard input is closed."""
READY_FILE = "OLMF_READY_FILE"
"""Set by the supervisor: the file that the program writes when it is ready."""


def end_with_supervisor() -> None:
    """Send SIGTERM to this process as soon as the supervisor has ended."""
    if os.environ.get(WATCH_PARENT):
        threading.Thread(target=_wait_for_the_end, name="parent-watch", daemon=True).start()


def _wait_for_the_end() -> None:
    while os.read(0, 64):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def without_parent_watch(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without the variables for a child of a supervisor: these processes watch the fork server."""
    return {name: value for name, value in environ.items() if name not in (WATCH_PARENT, READY_FILE)}


def announce(address: str = "", *, probe: str = "") -> None:
    """Announce that this program is ready, with its address and the URL of its probe."""
    if path := os.environ.get(READY_FILE):
        write_json(Path(path), {"pid": os.getpid(), "address": address, "probe": probe})
