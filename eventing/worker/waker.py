"""Sends for drainers that rest: one small event for each group that has work and nobody awake who drains it.

On Knative a Service rests at zero until an event reaches it. The work itself is in Redis, so an event that is lost,
repeated or late costs time and nothing else: while there is work, the waker sends again.

Decision: the scheduler alone sends, because it never rests: each change of the queue that leaves work to nobody wakes
it (`olmf:waker`), whoever made the change. Turned down: that intake and drainers send what they caused themselves. They
may be put to sleep while their event is under way, each would need the address of the Broker and a token for it, and
somebody who never rests would have to send again all the same.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NoReturn, TypeAlias

import structlog

from eventing.events.former import GROUPS as FORMER
from eventing.worker.drainer import GROUPS
from eventing.workqueue import REFUSED, Backlog, WorkQueue, is_temporary

Send: TypeAlias = Callable[[str], None]
"""Posts the event for a group; returns when it was taken, raises OSError when it was not."""

LONG: Final = "long"
"""The long lane, which has one Service for all groups."""
SLEEPERS: Final = (*GROUPS, LONG)
"""Who can be sent for. What else waits in the queue is posted to a sink by the scheduler itself."""
AGAIN_SECONDS: Final = 20.0
"""A group that was sent for and is not awake after this time is sent for again: longer than a cold start."""
REFUSED_SECONDS: Final = 2.0
"""The same after the Broker has not taken the event."""
KEEP_SECONDS: Final = 45.0
"""One that works for so long is sent for, too: Serving ends pods that had no request for a minute, whatever they do."""
POLL_SECONDS: Final = 2.0
"""How long the waker sleeps when nobody wakes it."""
ENTERED: Final = ("subscription", "bundle", "install_plan", "operator_group", "cluster_service_version")
"""The groups in the order in which an install comes to them first; what it comes back to is awake by then."""
log = structlog.get_logger()


def following(group: str) -> tuple[str, ...]:
    """The groups to which an install goes from this one: sent for with it, they start while it works."""
    return ENTERED[ENTERED.index(group) + 1 :] if group in ENTERED else ()


@dataclass(slots=True)
class Waker:
    """Decides when to send for whom, and sends, each event in a thread: a Broker may answer when all is drained."""

    send: Send
    on_return: Callable[[], None] = lambda: None
    """Called when the Broker takes an event after it has not."""
    clock: Callable[[], float] = time.monotonic
    again_seconds: float = AGAIN_SECONDS
    _due: dict[str, float] = field(default_factory=dict)
    """When a group that rests may be sent for again."""
    _kept: dict[str, float] = field(default_factory=dict)
    """When a group that works has to be sent for."""
    _is_refused: bool = False

    def wake_due(self, backlog: Iterable[Backlog]) -> tuple[str, ...]:
        """Send for the groups for which it is time; returns them."""
        found = {FORMER.get(one.group, one.group): one for one in backlog}
        found = {group: one for group, one in found.items() if group in SLEEPERS}
        chosen = tuple(dict.fromkeys(self._chosen(found)))
        self._kept = {group: at for group, at in self._kept.items() if group in found}
        for group in chosen:
            self._due[group] = self.clock() + self.again_seconds
            self._kept[group] = self.clock() + KEEP_SECONDS
            threading.Thread(target=self._sent, args=(group,), name=f"wake {group}", daemon=True).start()
        return chosen

    def wake_and_wait(self, queue: WorkQueue) -> None:
        """The same of a queue; then sleep until work comes to a group that nobody drains, or for two seconds."""
        self.wake_due(queue.backlog())
        queue.wait_for_backlog(POLL_SECONDS)

    def _chosen(self, found: Mapping[str, Backlog]) -> Iterator[str]:
        now = self.clock()
        for group, one in found.items():
            if self._kept.setdefault(group, now + KEEP_SECONDS) <= now:
                yield group
            elif not one.is_awake and self._due.get(group, 0) <= now:
                yield group
                yield from (
                    other for other in following(group) if other not in found and self._due.get(other, 0) <= now
                )

    def _sent(self, group: str) -> None:
        try:
            self.send(group)
        except OSError as error:
            log.warning("wake_refused", group=group, error=str(error))
            self._due[group] = self._kept[group] = self.clock() + REFUSED_SECONDS
            self._is_refused = True
            return
        if self._is_refused:
            self._is_refused = False
            self.on_return()


def repeat(acts: Iterable[Callable[[], object]], tries: Callable[[], None]) -> NoReturn:
    """Do these for ever, also while Redis is away; `tries` is called each time."""
    while True:
        tries()
        try:
            for act in acts:
                act()
        except REFUSED as error:
            if not is_temporary(error):
                raise
            log.warning("redis_refuses", error=str(error))
            time.sleep(1)
