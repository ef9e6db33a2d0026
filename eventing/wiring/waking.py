"""The threads of the scheduler on Knative: they wake drainers at rest, and audit when a source of events is back."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NoReturn

import structlog

from eventing.endpoint.sender import send
from eventing.events.event import Event
from eventing.metrics.health import WAKER, Heartbeat
from eventing.watch.senders import follow
from eventing.wiring.environment import first_token
from eventing.worker.asked_audits import AskedAudits
from eventing.worker.waker import POLL_SECONDS, Waker, repeat
from eventing.workqueue import WorkQueue, connect
from shared import names
from shared.adapters.kube import connect as api_server
from shared.config import Settings
from shared.kinds import NAMESPACE

SOURCE = "/olmf/scheduler"
SEND_SECONDS = 40.0
"""How long the Broker may take: one whose channel is in memory answers when the Service has drained."""
log = structlog.get_logger()


class Waking:
    """The threads beside the scheduler's own loop; what they cannot handle ends the program, which is started again."""

    def __init__(self, settings: Settings, audit: Callable[[WorkQueue, str], object]) -> None:
        """`audit` starts an audit with that id."""
        self._settings = settings
        self._queue = WorkQueue(connect(settings.redis_url), settings)
        self._audits = AskedAudits(lambda turn: audit(self._queue, turn))

    def start(self, heartbeat: Heartbeat) -> None:
        """Start the threads, and with an audit: nobody knows what came while no scheduler ran."""
        self._audits.ask("a scheduler starts")
        waker = Waker(self._send, lambda: self._audits.ask("the Broker takes events again"))
        wake = partial(waker.wake_and_wait, self._queue) if self._settings.broker else partial(time.sleep, POLL_SECONDS)
        wakes = partial(repeat, (self._audits.make_due, wake), partial(heartbeat.tries, WAKER))
        for work in (wakes, self._follow):
            threading.Thread(target=_or_end, args=(work,), daemon=True).start()

    def on_lost(self) -> None:
        """The Broker could not deliver an event."""
        self._audits.ask("an event was not delivered")

    def _send(self, group: str) -> None:
        file = self._settings.broker_token_file
        token = Path(file).read_text().strip() if file else ""
        event = wake_up(group, self._settings.policy.global_namespace, known_by(self._settings))
        send(self._settings.broker, event, "the Broker", token=token, seconds=SEND_SECONDS)
        log.info("group_woken", group=group, id=event.id)

    def _follow(self) -> None:
        connection = replace(api_server(self._settings.kubeconfig), agent="olmf/scheduler")
        ours, brokers = self._settings.policy.global_namespace, self._settings.broker_namespace
        asyncio.run(follow(connection, ours, brokers, lambda which: self._audits.ask(f"back: {which}")))


def known_by(settings: Settings) -> str:
    """The token that the Services know us by, the first of its file; empty where they want none. OSError without it."""
    if settings.endpoint_token or not settings.endpoint_token_file:
        return settings.endpoint_token
    if not (token := first_token(Path(settings.endpoint_token_file))):
        raise OSError(f"OLMF_ENDPOINT_TOKEN_FILE: {settings.endpoint_token_file} has no token")
    return token


def wake_up(group: str, namespace: str, token: str = "") -> Event:
    """The event that wakes the Service of a group; `token` is the one that the Services know senders by, if any."""
    attributes = {"group": group, **({names.KNOWN_BY: token} if token else {})}
    return Event(f"{group}-{time.time_ns()}", names.WORK_READY, SOURCE, NAMESPACE.ref(namespace), hints=attributes)


def _or_end(work: Callable[[], object]) -> NoReturn:
    try:
        work()
    except Exception:
        log.exception("waking_failed")
        sys.stderr.flush()
    finally:
        os._exit(1)
