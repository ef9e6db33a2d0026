"""The worker of the tests, as a program: `python -m tests.eventing.worker.program REDIS_URL [SECONDS PER RUN [LANE]]`.

It has as many runs under way at a time as the variable CONCURRENCY says, one without it.

Its step `copy` copies `wanted:<name>` to `seen:<name>`, like a controller that brings a cluster to a wanted state.
Where that changes something it enqueues `tell`, which copies `seen:<name>` to `told:<name>`; else it enqueues nobody.
The object's name may ask for a fault: `slow…` takes for ever, `bug…` raises, `bad-ref…` returns a job that cannot be
queued, `bad-record…` a journal entry that is too long, `hungry…` takes memory without end, `large…` much of
it for a moment, `pause…` waits until the
key `go` exists and sets the key `stopping` when it is told to stop. Why the run before was ended is in `ended:<name>`,
and that it failed in `failed:<name>`.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

from redis import Redis

from eventing.events.job import Job
from eventing.local.processes.parent_watch import end_with_supervisor
from eventing.worker.crew import one_per_thread
from eventing.worker.drainer import Drainer, Run
from eventing.worker.parent import work
from eventing.workqueue import Claim, WorkQueue
from eventing.workqueue.run_result import RunResult
from eventing.workqueue.work_queue import LONGEST_RECORD
from shared.config import Settings
from shared.telemetry import configure_logging

GROUP = "test"
LARGE_BYTES = 96 * 1024 * 1024
COPIES = {"copy": ("wanted", "seen"), "tell": ("seen", "told")}


def make_run(queue: WorkQueue) -> Run:
    """What a child runs; it says who it is in `child`, and who watches it in `parent`.

    Like what steps ask, it serves one thread: a second one at the same time is a bug.
    """
    client = queue.client
    client.mset({"child": os.getpid(), "parent": os.getppid()})

    def run(claim: Claim) -> RunResult:
        name = claim.ref.name
        step = claim.step.partition("/")[2]
        if step == "copy":
            client.rpush("started", f"{name} {time.monotonic()}")
        if claim.attempt > 1:
            client.set(f"failed:{name}", claim.attempt)
        if claim.ended:
            client.set(f"ended:{name}", claim.ended)
        misbehave(client, name)
        if name.startswith("bad-"):
            return unfit(claim)
        source, target = (f"{side}:{name}" for side in COPIES[step])
        desired, present = client.mget(source, target)
        if desired == present:
            return RunResult(f"run-{claim.token}", b"{}")
        jobs = (Job(f"{GROUP}/tell", claim.ref),) if step == "copy" else ()
        if not queue.lease_left(claim, jobs):
            return RunResult("", b"", failure="lost")
        if jobs:
            client.rpush(f"tokens:{name}", claim.token)
        client.set(target, desired or b"")
        return RunResult(f"run-{claim.token}", b"{}", jobs)

    return one_per_thread(lambda: serving_one_thread(run))


def serving_one_thread(run: Run) -> Run:
    """The same, which raises where two threads are in it at once."""
    busy = threading.Lock()

    def alone(claim: Claim) -> RunResult:
        if not busy.acquire(blocking=False):
            raise RuntimeError("two threads run steps at once")
        try:
            return run(claim)
        finally:
            busy.release()

    return alone


def unfit(claim: Claim) -> RunResult:
    """A result that the queue does not take."""
    if claim.ref.name.startswith("bad-record"):
        return RunResult("run", b"x" * (LONGEST_RECORD + 1))
    return RunResult("run", b"{}", (Job(f"{GROUP}/tell|x", claim.ref),))


def misbehave(client: Redis, name: str) -> None:
    """The fault that the name asks for."""
    if name.startswith("hungry"):
        eat()
    if name.startswith("large"):
        linger(LARGE_BYTES)
    if name.startswith("bug"):
        raise RuntimeError("a bug")
    while name.startswith("slow"):
        time.sleep(0.01)
    if name.startswith("pause"):
        pause(client)


def eat() -> None:
    """Take memory, as a parser of hostile text may."""
    eaten = [b"x"]
    while True:
        eaten.append(eaten[-1] * 2)


def linger(size: int) -> None:
    """Need that much memory for a moment."""
    needed = bytearray(size)
    time.sleep(0.3)
    del needed


def pause(client: Redis) -> None:
    """Wait for the key `go`."""
    while not client.exists("go"):
        if has_to_stop():
            client.set("stopping", 1)
        time.sleep(0.01)


def has_to_stop() -> bool:
    """Whether the signal reached the drainer, whose method handles it."""
    drainer = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return isinstance(drainer, Drainer) and drainer.is_stopping


def main() -> None:
    """Run until told to stop; `ready` on standard output says that it listens."""
    configure_logging("warning")
    end_with_supervisor()
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    settings = Settings(
        redis_url=sys.argv[1], steps=(GROUP,), lane="long" if sys.argv[3:] == ["long"] else "direct",
        concurrency=int(os.environ.get("CONCURRENCY", "1")),
        run_seconds=seconds, long_seconds=seconds, lease_seconds=2, max_failures=3, run_memory_bytes=256 * 1024**2,
    )  # fmt: skip
    sys.exit(work(settings, make_run, lambda: print("ready", flush=True)))


if __name__ == "__main__":
    main()
