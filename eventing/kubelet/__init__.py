"""A stand-in for kubelet, scheduler and workload controllers, for API servers that have no Nodes.

It makes Deployments available (there are no containers: it only says so) and runs Jobs whose command is `olmf …` as
local processes. Nothing else: no Pods, no ReplicaSets. The annotation `olmf.io/fail` lets a Deployment or Job fail.

Decisions:
- A Job's program runs in a process of its own (`eventing.forking`).
- A Job that ends within a second gets one status write, not two: every write is an event for somebody.
- A Deployment's status is written with the resourceVersion that was seen; a conflict is dropped, because the change
  that caused it is on its way through the same watch.
"""

from __future__ import annotations

from collections.abc import Callable

from shared.config import Settings

__all__ = ["run"]


def run(settings: Settings, *, on_ready: Callable[[], None] | None = None) -> None:
    """The stand-in, until SIGTERM or SIGINT; exits with a sentence where the cluster has Nodes."""
    from eventing.kubelet.program import work  # why: the fork server, which lives in this package, stays small

    work(settings, on_ready)
