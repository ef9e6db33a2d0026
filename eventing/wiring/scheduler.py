"""`olmf run scheduler`."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import NoReturn

from eventing.ending import noted_end
from eventing.events.event import Event
from eventing.journal import RedisJournal
from eventing.metrics.health import OUTLET, REDIS, SWEEPER, WAKER, HealthPort, Heartbeat, serve
from eventing.metrics.listener import listener
from eventing.routes import jobs_for
from eventing.wiring.waking import Waking
from eventing.worker import outlet
from eventing.worker.scheduler import schedule
from eventing.workqueue import WorkQueue
from shared import names
from shared.config import Settings
from shared.kinds import NAMESPACE


def main(values: Settings, announce: Callable[[], None]) -> NoReturn:
    """Enqueue what is due, audit, post notifications and wake Services, until SIGTERM."""
    end_on_request()
    audit = request_audit(values)
    waking = Waking(values, audit) if values.broker_namespace else None
    beats = heartbeat(values, waking.on_lost if waking else None)
    if waking:
        waking.start(beats)
    if values.sink:
        threading.Thread(target=outlet.serve_or_end, args=(values, beats), daemon=True).start()
    announce()
    schedule(values, audit, beats, after_loss=after_loss(values))


def end_on_request() -> None:
    """From now on SIGTERM and SIGINT end this process at once, whatever it waits for: a thread reads them."""
    wait = noted_end()

    def ends() -> NoReturn:
        wait()
        os._exit(0)  # each line of the log was flushed

    threading.Thread(target=ends, name="end", daemon=True).start()


def heartbeat(values: Settings, on_lost: Callable[[], None] | None = None) -> Heartbeat:
    """The probes of the scheduler, served on its port; `on_lost` is called for each dead letter of a Broker."""
    optional = ((OUTLET, values.sink), (WAKER, values.broker_namespace))
    found = Heartbeat((REDIS,), loops=(SWEEPER, *(loop for loop, is_there in optional if is_there)))
    if values.health_port:
        serve(HealthPort(listener(values, values.health_port), found, on_lost))
    return found


def request_audit(values: Settings) -> Callable[[WorkQueue, str], None]:
    """A function that emits `io.olmf.audit.requested` about the namespace of the installation."""

    def request(queue: WorkQueue, turn: str) -> None:
        ref = NAMESPACE.ref(values.policy.global_namespace)
        event = Event(id=turn, type=names.AUDIT_REQUESTED, source="/olmf/scheduler", ref=ref)
        RedisJournal(queue.client, max_bytes=values.journal_bytes).record_events([event])
        queue.add(jobs_for(event), event.id)

    return request


def after_loss(values: Settings) -> Callable[[WorkQueue, str], None]:
    """A function for when Redis may have lost jobs: the next audit, at once, is about whatever exists."""
    audit = request_audit(values)

    def request(queue: WorkQueue, loss: str) -> None:
        RedisJournal(queue.client, max_bytes=values.journal_bytes).forget_versions()
        audit(queue, loss)

    return request
