"""The socket of a program that listens: loopback on somebody's machine, every address in a pod."""

from __future__ import annotations

import socket

from shared.config import Settings

BACKLOG = 512


def listener(settings: Settings) -> socket.socket:
    """A listening socket on `settings.port`, 0 for any.

    A kubeconfig means that we run on a machine, next to others: then nobody but that machine is answered.
    """
    if settings.kubeconfig:
        return socket.create_server(("127.0.0.1", settings.port), backlog=BACKLOG)
    try:
        return socket.create_server(("::", settings.port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=BACKLOG)
    except (OSError, ValueError):  # why: no IPv6 here, whatever the system claims
        return socket.create_server(("", settings.port), backlog=BACKLOG)


def address_of(listening: socket.socket) -> str:
    """Its URL, for this machine."""
    return f"http://127.0.0.1:{listening.getsockname()[1]}"
