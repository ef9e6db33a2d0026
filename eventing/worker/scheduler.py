"""The scheduler: queues due jobs, takes back lost leases, and starts audits: on a schedule, and when Redis lost writes.

Redis may have lost writes when another server answers, or the same one was a replica meanwhile: a replica that becomes
the master, and a restarted server, lack the last writes, so jobs of events that nobody sends again. Redis reports which
server it is; the server of the last check is stored in Redis, too, so a restarted scheduler notices the change as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NoReturn

import structlog
from redis import Redis

from eventing.metrics.health import REDIS, Heartbeat
from eventing.worker.child import sweep_forever
from eventing.worker.parent import worker_name
from eventing.workqueue import WorkQueue, connect
from eventing.workqueue.rq_cron import Schedules
from shared.config import Settings

AUDIT = "audit"
SERVER: Final = "olmf:server"
"""The key with the server of the last check."""
log = structlog.get_logger()


def schedule(
    settings: Settings,
    audit: Callable[[WorkQueue, str], object],
    heartbeat: Heartbeat | None = None,
    *,
    after_loss: Callable[[WorkQueue, str], object] = lambda *_: None,
) -> NoReturn:
    """`olmf run scheduler`. A signal may end it anywhere: each change is one call of Redis. RQ forgets it soon.

    `audit` starts an audit and gets its id. `after_loss` is called when Redis may have lost writes.
    """
    queue = WorkQueue(connect(settings.redis_url), settings, worker=worker_name())
    schedules = Schedules(queue.client, queue.worker)
    schedules.every(settings.audit_seconds, AUDIT, lambda turn: audit(queue, turn))
    continuity = Continuity(queue.client, lambda loss: after_loss(queue, loss))

    def tick() -> None:
        continuity.check()
        schedules.tick()

    sweep_forever(queue, heartbeat or Heartbeat((REDIS,)), tick)


class Continuity:
    """Checks whether Redis is still the same server."""

    def __init__(self, client: Redis, lost: Callable[[str], object]) -> None:
        """`lost` is called when writes may be lost, with an id of the loss; again if it failed."""
        self._client = client
        self._lost = lost

    def check(self) -> None:
        """Compare the present server with that of the last check; only reads while it is the same."""
        with self._client.pipeline(transaction=False) as pipe:
            pipe.get(SERVER)
            pipe.info("server")
            pipe.info("replication")
            known, server, replication = pipe.execute()
        now = f"{server['run_id']}.{replication['master_replid']}"
        if known is not None and known.decode() == now:
            return
        log.warning("redis_may_have_lost_writes", known=(known or b"").decode(), now=now)
        self._lost(f"loss-{now}")
        self._client.set(SERVER, now)
