"""Builds what a scheduler needs: its probes, the audit, and what is done when Redis may have lost writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from eventing.events.event import Event
from eventing.metrics.health import OUTLET, REDIS, SWEEPER, WAKER, HealthPort, Heartbeat, serve
from eventing.metrics.listener import listener
from eventing.routes import jobs_for
from shared import names
from shared.config import Settings
from shared.kinds import NAMESPACE

if TYPE_CHECKING:
    from eventing.workqueue import WorkQueue


def heartbeat(values: Settings, on_lost: Callable[[], None] | None = None) -> Heartbeat:
    """What the probes of the scheduler ask, served on its port; `on_lost` is told of each dead letter of a Broker."""
    beside = ((OUTLET, values.sink), (WAKER, values.broker_namespace))
    found = Heartbeat((REDIS,), loops=(SWEEPER, *(loop for loop, is_there in beside if is_there)))
    if values.health_port:
        serve(HealthPort(listener(values, values.health_port), found, on_lost))
    return found


def request_audit(values: Settings) -> Callable[[WorkQueue, str], None]:
    """A function that emits `io.olmf.audit.requested` about the namespace of the installation."""

    def request(queue: WorkQueue, turn: str) -> None:
        from eventing.journal import RedisJournal

        ref = NAMESPACE.ref(values.policy.global_namespace)
        event = Event(id=turn, type=names.AUDIT_REQUESTED, source="/olmf/scheduler", ref=ref)
        RedisJournal(queue.client, max_bytes=values.journal_bytes).record_events([event])
        queue.add(jobs_for(event), event.id)

    return request


def after_loss(values: Settings) -> Callable[[WorkQueue, str], None]:
    """A function for when Redis may have lost jobs: the next audit, at once, is about whatever exists."""
    audit = request_audit(values)

    def request(queue: WorkQueue, loss: str) -> None:
        from eventing.journal import RedisJournal

        RedisJournal(queue.client, max_bytes=values.journal_bytes).forget_versions()
        audit(queue, loss)

    return request
