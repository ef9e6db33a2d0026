"""Simulates kubelet, scheduler and workload controllers, for API servers that have no Nodes.

It reports Deployments as available, though no container runs, and runs Jobs whose command is `olmf …` as local
processes. It makes no Pods and no ReplicaSets. The annotation `olmf.io/fail` lets a Deployment or Job fail.

Decisions:
- The program of a Job runs in its own process (`eventing.forking`).
- A Job that ends within a second gets one status write instead of two, because every write is a watch event.
- The status of a Deployment is written with the resourceVersion of the watch event. A conflict is ignored, because the
  change that caused it comes through the same watch.
"""

from __future__ import annotations

from collections.abc import Callable

from shared.config import Settings

__all__ = ["run"]


def run(settings: Settings, *, on_ready: Callable[[], None] | None = None) -> None:
    """Run until SIGTERM or SIGINT. Exits with a message when the cluster has Nodes."""
    from eventing.kubelet.program import work  # why: importing the package stays cheap

    work(settings, on_ready)
