"""Posts our own events to an external sink: each event is a job, which the scheduler posts over HTTP.

Decision: to emit an event adds a job of the group `sink`, in the same call that ends the run. So the event is as
durable as any job, is retried with back-off without limit, and is listed by `olmf queue ls`; a run neither waits for
the sink nor fails with it. The scheduler posts, because it always runs and runs no steps.

Delivery is at least once, with the same id each time. When the same event about the same object occurs again before it
was posted, it is posted once, like any job. Turned down: posting from the worker, which a slow sink would block, and
posting from the endpoint, which does not see our own events.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import NoReturn

import structlog

from eventing.endpoint.sender import send
from eventing.events.event import Event
from eventing.events.job import SINK, from_outside
from eventing.events.trace import begun_by
from eventing.metrics.health import OUTLET, Heartbeat
from eventing.worker.drainer import Drainer, Run
from eventing.workqueue import REFUSED, Claim, WorkQueue, connect, is_temporary
from eventing.workqueue.run_result import RunResult
from shared.config import Settings

PAUSE_SECONDS = 1.0
SOURCE = "/olmf"
log = structlog.get_logger()


def serve_or_end(settings: Settings, heartbeat: Heartbeat) -> NoReturn:
    """Serve in a thread. Nobody would start it again, so what it cannot handle ends the program."""
    try:
        serve(settings, tries=partial(heartbeat.tries, OUTLET))
    except Exception:
        log.exception("outlet_failed")
        sys.stderr.flush()
    finally:
        os._exit(1)


def serve(settings: Settings, run_claim: Run | None = None, tries: Callable[[], None] = lambda: None) -> NoReturn:
    """Post due events to `settings.sink`, for ever. `run_claim` replaces `post`; `tries` is called at each attempt."""
    run = run_claim or (lambda claim: post(settings.sink, claim))
    while True:
        try:
            queue = WorkQueue(connect(settings.redis_url), settings, worker=f"sink-{secrets.token_hex(4)}")
            while True:
                Drainer(queue, (SINK,), run, tries=tries).drain()
        except REFUSED as error:
            if not is_temporary(error):
                raise
            log.warning("redis_refuses", error=str(error))
            time.sleep(PAUSE_SECONDS)


def post(sink: str, claim: Claim) -> RunResult:
    """Post the event of a claim; when the sink does not accept it, the result asks for a retry."""
    event = event_of(claim)
    try:
        send(sink, event, "the sink")
    except OSError as error:
        log.warning("event_refused", id=event.id, type=event.type, ref=str(event.ref), error=str(error))
        return RunResult(run_id="", record=b"", failure="retry", message=str(error))
    log.info("event_sent", id=event.id, type=event.type, ref=str(event.ref))
    return RunResult(run_id="", record=b"")


def event_of(claim: Claim) -> Event:
    """The event of a claim; its id is that of the last run that emitted it."""
    kind = claim.step.partition("/")[2]
    ref = from_outside(claim.ref)
    identity = f"{claim.causes[-1]}.{ref.namespace}.{ref.name}"
    return Event(identity, kind, SOURCE, ref, traceparent=claim.trace or begun_by(identity))
