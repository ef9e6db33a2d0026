"""Notices that Redis may have lost writes: another server answers, or the same one was a replica meanwhile.

A replica that becomes the master, and a server that was started again, lack the last writes: jobs of events that were
taken, and that nobody sends again. What a server is, it says itself; whom we knew last stands in Redis, so that a
scheduler that was away with it notices, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import structlog
from redis import Redis

KNOWN: Final = "olmf:server"
log = structlog.get_logger()


class Continuity:
    """Whether Redis is the server that it was."""

    def __init__(self, client: Redis, lost: Callable[[str], object]) -> None:
        """`lost` is called when writes may be lost, with an id of the loss; again if it failed."""
        self._client = client
        self._lost = lost

    def check(self) -> None:
        """Ask Redis who it is; a read when nothing happened."""
        with self._client.pipeline(transaction=False) as pipe:
            pipe.get(KNOWN)
            pipe.info("server")
            pipe.info("replication")
            known, server, replication = pipe.execute()
        now = f"{server['run_id']}.{replication['master_replid']}"
        if known is not None and known.decode() == now:
            return
        log.warning("redis_may_have_lost_writes", known=(known or b"").decode(), now=now)
        self._lost(f"loss-{now}")
        self._client.set(KNOWN, now)
