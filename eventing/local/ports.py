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

_claims: dict[int, tuple[Path | None, socket.socket]] = {}


def free_port(desired: int = 0, owner: Path | None = None) -> int:
    """A port on which nobody listens: the desired one if possible. Until we end, only its owner gets it again.

    A program listens only seconds after its port was chosen; meanwhile another program, or another installation,
    may choose one.
    """
    while not (desired and _nobody_listens(desired) and (_is_owner(owner, desired) or _claim(desired, owner))):
        desired = random.choice(PORTS)  # noqa: S311  # nothing secret about a port
    return desired


def _is_owner(owner: Path | None, port: int) -> bool:
    return owner is not None and port in _claims and _claims[port][0] == owner


def _nobody_listens(port: int) -> bool:
    with socket.socket() as probe, contextlib.suppress(OSError):
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))
        return True
    return False


def _claim(port: int, owner: Path | None) -> bool:
    """Whether the datagram port of the same number, which none of our programs needs, is ours until we end."""
    claim = socket.socket(type=socket.SOCK_DGRAM)
    try:
        claim.bind(("127.0.0.1", port))
    except OSError:
        claim.close()
        return False
    _claims[port] = (owner, claim)
    return True
