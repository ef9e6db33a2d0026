"""`olmf run kubelet`: the simulated kubelet, until it is ended."""

from __future__ import annotations

from collections.abc import Callable

from shared.config import Settings


def run(settings: Settings, *, on_ready: Callable[[], None] | None = None) -> None:
    """Run until SIGTERM or SIGINT. Exits with a message when the cluster has real Nodes."""
    from eventing.local.kubelet.program import work  # why: importing the package stays cheap

    work(settings, on_ready)
