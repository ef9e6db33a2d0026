"""A drainer with several runs at a time, each in a thread of its own.

The main thread waits for Redis and claims for idle threads, so nothing polls. A thread that has ended a run claims the
next one itself, in the same round trip: the queue gives a worker one run of a namespace at a time. Where a round trip
takes long, the main thread claims for all idle threads at once; else one by one, so that other workers have a share.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import NoReturn

from eventing.worker.drainer import Drainer, Guard, Run
from eventing.worker.shared_lock import SharedLock
from eventing.workqueue import Claim
from eventing.workqueue.run_result import RunResult

SWITCH_SECONDS = 0.001
"""How long a thread computes before another one may: answers of the API server do not wait for a resolution."""
SLOW_SECONDS = 0.02
"""A claim that takes longer is worth being one of several."""
STACK_BYTES = 4 * 1024 * 1024
"""Of each thread; it counts towards the memory of the process."""


@dataclass(slots=True)
class ThreadedDrainer(Drainer):
    """Runs the jobs of some groups, as many at a time as its stopwatch has slots."""

    clock: Callable[[], float] = time.monotonic
    _claims: SimpleQueue[Claim] = field(default_factory=SimpleQueue)
    _rooms: SimpleQueue[None] = field(default_factory=SimpleQueue)
    """One entry for each run that may begin; the main thread has taken one before it claims."""
    _has_room: bool = True
    _claim_seconds: float = 0.0
    """How long the main thread's last claim took."""
    _is_idle: threading.Event = field(default_factory=threading.Event)
    """A thread has found nothing more to claim."""
    _process: SharedLock = field(default_factory=SharedLock)
    """What every run uses: one that may be the reason why a process ended uses it alone."""

    def begin(self, guard: Guard) -> None:
        """Start the threads."""
        sys.setswitchinterval(SWITCH_SECONDS)
        before = threading.stack_size(STACK_BYTES)
        for slot in range(self.stopwatch.slots):
            threading.Thread(target=guard, args=(partial(self._serve, slot),), daemon=True).start()
        for _ in range(self.stopwatch.slots - 1):
            self._rooms.put(None)
        threading.stack_size(before)

    def execute(self, claims: Sequence[Claim]) -> None:
        """Give the claims to threads, and wait until one more can be taken."""
        self._has_room = False
        for claim in claims:
            self._claims.put(claim)
        self.wait_for(self._take_room)

    def pause(self, seconds: float) -> None:
        """Wait until a thread is idle: one that has ended a run claims the next one, also of other namespaces.

        Without this pause each event of a namespace that already has its run would wake the main thread for nothing:
        while a tenant wrote as fast as it could, that took a quarter of the worker's processor time.
        """
        self._is_idle.wait(seconds)
        self._is_idle.clear()

    def rest(self, seconds: float) -> None:
        """Wait until it is woken for a job; while a run is to be alone for its end, so that others are woken."""
        if self._process.wants_to_be_alone:
            self._process.wait_until_shared(seconds)
        else:
            Drainer.rest(self, seconds)  # why not `super()`: it means the class before `slots` made it anew

    def claims(self, most: int = 1) -> tuple[Claim, ...]:
        """The next claims; none while a run is to be alone: others would wait behind it, and may run elsewhere."""
        if self._process.wants_to_be_alone:
            return ()
        idle = self._rooms.qsize() if self._claim_seconds > SLOW_SECONDS else 0
        for _ in range(idle):
            self._rooms.get()
        started = self.clock()
        claims = Drainer.claims(self, most + idle)
        self._claim_seconds = self.clock() - started
        for _ in range(idle - max(len(claims) - most, 0)):
            self._rooms.put(None)
        return claims

    def goes_on(self, claim: Claim) -> bool:
        """Whether the thread that ends the run of the claim takes the next one in the same round trip."""
        return not (claim.is_alone or self.is_stopping or self._process.wants_to_be_alone)

    def end(self) -> None:
        """Wait until no run is under way."""
        for _ in range(self.stopwatch.slots - self._has_room):
            self._rooms.get()

    def _take_room(self) -> None:
        self._rooms.get()
        self._has_room = True

    def _serve(self, slot: int) -> NoReturn:
        while True:
            claim: Claim | None = self._claims.get()
            while claim is not None:
                self._process.take(alone=claim.is_alone)
                # why not given back when it raises: the process ends, and none is to begin
                following = self.perform(claim, slot)
                self._process.give_back(alone=claim.is_alone)
                claim = self._after_alone() if claim.is_alone else following
            self._rooms.put(None)
            self._is_idle.set()

    def _after_alone(self) -> Claim | None:
        """The next claim, once others may have one, too."""
        claims = () if self.is_stopping or self._process.wants_to_be_alone else Drainer.claims(self)
        return next(iter(claims), None)


def one_per_thread(make: Callable[[], Run]) -> Run:
    """A function that runs claims, each thread with what `make` returned for it: what steps ask serves one thread."""
    own = threading.local()

    def run(claim: Claim) -> RunResult:
        if not hasattr(own, "run"):
            own.run = make()
        result: RunResult = own.run(claim)
        return result

    return run
