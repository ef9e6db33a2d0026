"""A recorded world that stopped at an event: objects, journal and queue in a state directory, and nothing at work."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from eventing.diagnosis.replay.simulated_queue import SimulatedQueue
from eventing.diagnosis.replay.world import live_until
from eventing.events.event import Event
from eventing.journal import RedisJournal
from eventing.local import redis_server
from eventing.local.apiserver.direct import Direct
from eventing.local.apiserver.server import Settings, open_world, serve
from eventing.local.state import Addresses, StateDirectory
from eventing.wiring.environment import settings
from eventing.workqueue import Client, WorkQueue, connect
from shared.adapters.kube import KubeClient
from shared.api.crds import definitions


class NotEmpty(RuntimeError):
    """The state directory holds the objects of another world."""


def serve_stopped(path: Path, until: str, state: StateDirectory, on_ready: Callable[[Addresses, int], object]) -> None:
    """Live a capture until an event, or a run, of that id, then serve that world until SIGTERM or Ctrl-C.

    `on_ready` gets the addresses and the number of runs. NotACapture, NotInCapture, NotEmpty, AlreadyRunningError.
    """
    if (state.root / "objects.jsonl").exists():
        raise NotEmpty(f"{state.root} holds a world already; name another directory with --state")
    state.make()
    with state.claimed(), contextlib.ExitStack() as stack:
        redis = redis_server.start(state.root / "redis")
        stack.callback(redis.stop)
        with contextlib.closing(connect(redis.url)) as client:
            runs = _live(path, until, Settings(state.root), client)
        addresses = Addresses(str(state.root), os.getpid(), str(state.kubeconfig), redis=redis.url, ready=True)

        def ready(_: Path) -> None:
            state.write(addresses)
            on_ready(addresses, runs)

        asyncio.run(serve(Settings(state.root), ready))


def _live(path: Path, until: str, place: Settings, client: Client) -> int:
    """Store a world as it was at that event; returns the number of runs."""
    journal = RedisJournal(client)

    def note(entry: Event | bytes) -> None:
        if isinstance(entry, Event):
            journal.record_events([entry])
        else:
            journal.ran(entry)

    opened = open_world(place)
    with contextlib.closing(opened.store), contextlib.closing(KubeClient(Direct(opened))) as world:
        for definition in definitions():
            world.create(definition)
        queue = live_until(path, until, world, note)
    _keep(queue, WorkQueue(client, settings()))
    return len(queue.index.runs)


def _keep(queue: SimulatedQueue, kept: WorkQueue) -> None:
    """What waited when the world stopped, for `olmf queue ls`: nobody runs it."""
    for job, delay in queue.waiting():
        kept.add([replace(job, delay=max(delay, timedelta()))], "the replay stopped here")
