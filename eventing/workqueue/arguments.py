"""The arguments of the scripts, made of the values of the queue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import groupby
from operator import attrgetter

from eventing.events.job import Job
from eventing.workqueue.durations import bucket_of
from eventing.workqueue.run_result import RunResult
from eventing.workqueue.scripts import Argument
from eventing.workqueue.values import Addition, Claim, entry_of

JOURNAL_LENGTH = 100_000
"""Maximum number of entries in the stream; `eventing/journal` limits it in bytes."""
_ENDS = {"limit": "timeout"}
"""How a run ended, as it is counted, where that is not the name of its failure."""
_BATCH = 500
_LONGEST_CAUSE = 200
_LONGEST_TRACE = 55


def adding(additions: Iterable[Addition], most: int) -> list[tuple[Argument, ...]]:
    """Of each call of `add.lua`."""
    return [
        (_one_line(each.cause), milliseconds(delay), each.trace[:_LONGEST_TRACE], most, *_of_jobs(batch))
        for each in additions
        for delay, batch in _batches(each.jobs)
    ]


def checking(claim: Claim, jobs: Iterable[Job], writes: Iterable[str]) -> tuple[Argument, ...]:
    """Of `check_lease.lua`."""
    return (str(claim.ref), claim.token, "\n".join(writes), *_of_jobs(jobs))


def finishing(result: RunResult, failure: str, *, is_alone_next: bool) -> tuple[Argument, ...]:
    """Of `finish.lua`, what follows the key of the journal."""
    return (
        JOURNAL_LENGTH, result.record, result.run_id, "\n".join(map(_one_line, result.own_events)),
        _ENDS.get(failure, failure) or result.end, int(result.took_ms * 1000), result.trace, result.warned,
        int(is_alone_next), bucket_of(result), result.exemplar, "\n".join(result.counted), result.read_set,
        *_of_jobs(result.jobs),
    )  # fmt: skip


def milliseconds(delay: timedelta) -> int:
    """A delay as scripts know it."""
    return max(0, int(delay / timedelta(milliseconds=1)))


def _batches(jobs: Iterable[Job]) -> Iterator[tuple[timedelta, list[Job]]]:
    """The jobs with the same delay, a limited number at a time: other clients wait while a script runs."""
    for delay, alike in groupby(sorted(jobs, key=attrgetter("delay")), key=attrgetter("delay")):
        found = list(alike)
        for start in range(0, len(found), _BATCH):
            yield delay, found[start : start + _BATCH]


def _of_jobs(jobs: Iterable[Job]) -> list[str]:
    """Entry and lane of each job."""
    return [text for job in jobs for text in (entry_of(job), job.lane)]


def _one_line(cause: str) -> str:
    # An id may come from outside, and scripts store causes as lines.
    return cause.replace("\n", " ")[:_LONGEST_CAUSE]
