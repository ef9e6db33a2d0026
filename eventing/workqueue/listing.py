"""Lists jobs for people: waiting, running, delayed or dead; each list is one consistent read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from redis import Redis

from eventing.workqueue.durations import buckets
from eventing.workqueue.scripts import OBSERVED, RECENT_SECONDS, run
from eventing.workqueue.values import Backlog, Depth, Listed, Ran, State, job_of, lane_of
from shared.domain.progress import Progress

LIVE: tuple[State, ...] = ("running", "ready", "blocked", "delayed")
DEAD: tuple[State, ...] = ("dead",)


def listed(client: Redis, limit: int = 1000, *, states: Sequence[State] = (*LIVE, *DEAD)) -> tuple[Listed, ...]:
    """The jobs in these states, at most `limit` of each; a running job that was enqueued again is listed twice."""
    rows = run(client, "list", limit, *states)
    return tuple(_listed([value.decode() if isinstance(value, bytes) else value for value in row]) for row in rows)


def depth(client: Redis) -> Depth:
    """The number of jobs in each state."""
    running, delayed, dead, refused, long, *ready = run(client, "count")
    by_group = {group.decode(): count for group, count in zip(ready[::2], ready[1::2], strict=True)}
    return Depth(dict(sorted(by_group.items())), running, delayed, dead, refused, long)


def backlog(client: Redis) -> tuple[Backlog, ...]:
    """The groups that have work now, by name; the long lane of all groups is one, `long`."""
    rows = run(client, "backlog")
    return tuple(sorted(Backlog(group.decode(), bool(awake), waits / 1000) for group, awake, waits in rows))


def ran(client: Redis) -> tuple[Ran, ...]:
    """How often and how long runs took, by step and result."""
    pipe = client.pipeline(transaction=False)
    for key in ("olmf:ran", "olmf:took", "olmf:within", "olmf:exemplars"):
        pipe.hgetall(key)
    counts, micros, within, exemplars = pipe.execute()
    by_run = buckets(within, exemplars)
    words = [(key.decode(), int(count), int(micros[key])) for key, count in sorted(counts.items())]
    recent = _recent(client, [key for key, _, _ in words if key.partition("|")[0] in OBSERVED])
    return tuple(
        Ran(step, result, count, took / 1e6, tuple(by_run.get((step, result), ())), recent.get(key, ()))
        for key, count, took in words
        for step, _, result in (key.partition("|"),)
    )


def _recent(client: Redis, keys: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """The newest durations of each of these runs, in seconds."""
    pipe = client.pipeline(transaction=False)
    pipe.time()
    for key in keys:
        pipe.lrange(f"olmf:recent:{key}", 0, -1)
    (seconds, _), *found = pipe.execute()
    oldest_ms = (seconds - RECENT_SECONDS) * 1000
    rows = ((key, [row.split() for row in rows]) for key, rows in zip(keys, found, strict=True))
    return {key: tuple(int(took) / 1e6 for ended, took in pairs if int(ended) >= oldest_ms) for key, pairs in rows}


def _listed(row: list[Any]) -> Listed:
    entry, state, when, worker, lane, since, attempts, error, causes, progress = row
    job = job_of(entry, lane_of(lane))
    return Listed(
        step=job.step,
        ref=job.ref,
        lane=job.lane,
        state=state,
        attempts=int(attempts),
        error=error,
        since=_instant(when if state == "dead" else since),
        due=None if state == "dead" else _instant(when),
        worker=worker,
        causes=tuple(causes.split("\n")) if causes else (),
        progress=Progress(**json.loads(progress)) if progress else None,
    )


def _instant(ms: str) -> datetime | None:
    return datetime.fromtimestamp(float(ms) / 1000, UTC) if ms else None
