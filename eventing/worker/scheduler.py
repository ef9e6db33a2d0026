"""The scheduler: queues jobs that are due, takes back lost leases, and starts the audit, also without a worker."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from eventing.metrics.health import REDIS, Heartbeat
from eventing.worker.child import sweep_forever
from eventing.worker.continuity import Continuity
from eventing.worker.parent import worker_name
from eventing.workqueue import WorkQueue, connect
from eventing.workqueue.rq_cron import Schedules
from shared.config import Settings

AUDIT = "audit"


def schedule(
    settings: Settings,
    audit: Callable[[WorkQueue, str], object],
    heartbeat: Heartbeat | None = None,
    *,
    after_loss: Callable[[WorkQueue, str], object] = lambda *_: None,
) -> NoReturn:
    """`olmf run scheduler`. A signal may end it anywhere: each change is one call of Redis. RQ forgets it soon.

    `audit` starts an audit; it receives the id of the turn. `after_loss` is called when Redis may have lost writes.
    """
    queue = WorkQueue(connect(settings.redis_url), settings, worker=worker_name())
    schedules = Schedules(queue.client, queue.worker)
    schedules.every(settings.audit_seconds, AUDIT, lambda turn: audit(queue, turn))
    continuity = Continuity(queue.client, lambda loss: after_loss(queue, loss))

    def tick() -> None:
        continuity.check()
        schedules.tick()

    sweep_forever(queue, heartbeat or Heartbeat((REDIS,)), tick)
