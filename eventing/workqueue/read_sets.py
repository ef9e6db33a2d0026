"""What decisions read of catalogs, kept with the entries of the queue that rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from redis import Redis

from eventing.events.job import Job
from eventing.workqueue.scripts import run
from eventing.workqueue.values import entry_of

READ_SETS: Final = "olmf:read-sets"
"""The Redis set of the entries with something that is kept."""
_BATCH: Final = 500
"""Other clients wait while a script runs."""


def read_sets(client: Redis, jobs: Sequence[Job]) -> Iterator[bytes]:
    """Of each entry what its last run read; nothing for one that waits, runs or has failed, and where it is lost."""
    for start in range(0, len(jobs), _BATCH):
        yield from run(client, "read_sets", *map(entry_of, jobs[start : start + _BATCH]))


def keep_only(client: Redis, jobs: Iterable[Job]) -> int:
    """Forget what was read in runs of all other entries; returns of how many something was known."""
    kept = set(map(entry_of, jobs))
    known = {entry.decode() for entry in client.sscan_iter(READ_SETS, count=_BATCH)}
    others = sorted(known - kept)
    batches = (others[start : start + _BATCH] for start in range(0, len(others), _BATCH))
    return sum(int(run(client, "forget_read_sets", *batch)) for batch in batches)
