"""What decisions read of catalogs, kept with the entries of the queue that rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from redis import Redis

from eventing.events.job import Job
from eventing.workqueue.scripts import run
from eventing.workqueue.values import entry_of

_BATCH = 500
"""Other clients wait while a script runs."""


def read_sets(client: Redis, jobs: Sequence[Job]) -> Iterator[bytes]:
    """Of each entry what its last run read; nothing for one that waits, runs or has failed, and where it is lost."""
    for start in range(0, len(jobs), _BATCH):
        yield from run(client, "read_sets", *map(entry_of, jobs[start : start + _BATCH]))
