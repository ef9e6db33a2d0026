"""Redis may have lost writes: it is another server, was a replica, or knows nothing of us."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from redis import Redis
from redis.exceptions import RedisError

from eventing.journal import RedisJournal
from eventing.local.redis_server import RedisServer
from eventing.wiring.scheduler import after_loss
from eventing.worker.scheduler import Continuity
from eventing.workqueue import WorkQueue, connect
from shared.config import Settings
from tests.eventing.journal.test_changes import REF, an_event


def demote(client: Redis) -> None:
    """It becomes a replica, and the master again."""
    client.slaveof("127.0.0.1", 1)
    client.slaveof()


@pytest.mark.parametrize(
    ("happens", "losses"),
    [
        pytest.param(lambda _: None, 0, id="nothing"),
        pytest.param(lambda client: client.set("a", 1), 0, id="a write"),
        pytest.param(demote, 1, id="it was a replica"),
        pytest.param(lambda client: client.flushall(), 1, id="it knows nothing of us"),
    ],
)
def test_a_loss_is_noticed_once(own_redis: RedisServer, happens: Callable[[Redis], object], losses: int) -> None:
    found: list[str] = []
    with connect(own_redis.url) as client:
        Continuity(client, found.append).check()
        assert len(found) == 1, "nobody knows what was before"
        happens(client)
        for _ in range(3):
            Continuity(client, found.append).check()
    assert len(found) == 1 + losses


def test_a_loss_that_could_not_be_answered_is_noticed_again(redis_url: str) -> None:
    found: list[str] = []

    def fails(loss: str) -> None:
        found.append(loss)
        raise RedisError("no")

    with connect(redis_url) as client:
        for _ in range(2):
            with pytest.raises(RedisError):
                Continuity(client, fails).check()
    assert len(found) == 2


def test_after_a_loss_the_audit_is_about_everything(redis_url: str) -> None:
    with connect(redis_url) as client:
        settings, journal = Settings(redis_url=redis_url), RedisJournal(client)
        journal.record_events([an_event("7")])
        assert journal.unseen([(REF, "7")]) == ()
        queue = WorkQueue(client, settings)
        after_loss(settings)(queue, "loss-1")
        assert journal.unseen([(REF, "7")]) == (REF,)
        assert queue.depth().ready["maintenance"]
