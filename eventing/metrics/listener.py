"""The listening socket of a program: on loopback outside a cluster, on every address in a pod."""

from __future__ import annotations

import socket

from shared.config import Settings

BACKLOG = 512


def listener(settings: Settings, port: int | None = None) -> socket.socket:
    """A listening socket on a port, that of the settings by default; 0 for any.

    With a kubeconfig the program runs outside the cluster; then it listens on loopback only.
    """
    port = settings.port if port is None else port
    if settings.kubeconfig:
        return socket.create_server(("127.0.0.1", port), backlog=BACKLOG)
    try:
        return socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=BACKLOG)
    except (OSError, ValueError):  # why: no IPv6 here, although the system reports it
        return socket.create_server(("", port), backlog=BACKLOG)


def address_of(listening: socket.socket) -> str:
    """The URL of a listening socket, for clients on this machine."""
    return f"http://127.0.0.1:{listening.getsockname()[1]}"
