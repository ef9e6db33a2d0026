"""Free ports of loopback, each for one program only until this process ends."""

from __future__ import annotations

import contextlib
import random
import socket
from pathlib import Path

PORTS = range(20_000, 32_000)
"""The ports on which our programs listen: outside the range of outgoing connections.

A port that the kernel chooses may be used by a connection before a program listens on it.
"""

_owners: dict[int, Path | None] = {}
"""Of the ports that this process has claimed."""


def free_port(desired: int = 0, owner: Path | None = None) -> int:
    """A port on which nobody listens: the desired one if possible. Until we end, only its owner gets it again.

    A program listens only seconds after its port was chosen; meanwhile another program, or another installation,
    may choose one. So we claim the datagram port of the same number, which none of our programs needs: the kernel gives
    it to one process of all users, and takes it back when that process, and whatever it forked, is gone.
    """
    while not (desired and _is_claimed(desired, owner)):
        desired = random.choice(PORTS)  # noqa: S311  # nothing secret about a port
    return desired


def _is_claimed(port: int, owner: Path | None) -> bool:
    """Whether it is free, and ours from now on. It is claimed first: who had it may begin to listen meanwhile."""
    if owner is not None and _owners.get(port) == owner:
        return _nobody_listens(port)
    with socket.socket(type=socket.SOCK_DGRAM) as claim:
        if not (_takes(claim, port) and _nobody_listens(port)):
            return False
        _owners[port] = owner
        claim.detach()
        return True


def _nobody_listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return _takes(probe, port)


def _takes(taking: socket.socket, port: int) -> bool:
    with contextlib.suppress(OSError):
        taking.bind(("127.0.0.1", port))
        return True
    return False
