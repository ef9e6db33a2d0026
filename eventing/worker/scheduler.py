"""The scheduler: queues jobs that are due, takes back lost leases, and starts the audit, also without a worker."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import NoReturn

from eventing.metrics.health import REDIS, Heartbeat
from eventing.worker.child import sweep_forever
from eventing.worker.parent import worker_name
from eventing.workqueue import WorkQueue, connect
from shared.config import Settings


def schedule(
    settings: Settings, ring_audit: Callable[[WorkQueue], None], heartbeat: Heartbeat | None = None
) -> NoReturn:
    """`olmf run scheduler`. A signal may end it anywhere: each change is one call of Redis."""
    queue = WorkQueue(connect(settings.redis_url), settings, worker=worker_name())
    every = timedelta(seconds=settings.audit_seconds)

    def audit() -> None:
        if queue.is_turn("audit", every):
            ring_audit(queue)

    sweep_forever(queue, heartbeat or Heartbeat((REDIS,)), audit)
