"""The jobs that fail: what the work queue knows of a package, and no status says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from shared.domain.resolver.explain.findings import in_one_line

if TYPE_CHECKING:  # why: the queue brings the Redis client
    from eventing.workqueue import Listed
    from shared.kinds import Ref

Failing: TypeAlias = "Mapping[Ref, Listed]"
"""The jobs whose last run failed, by what they look at."""


def failing(jobs: Iterable[Listed]) -> Failing:
    """Those of the queue; of several on one object the one that failed most often."""
    return {job.ref: job for job in sorted(jobs, key=lambda job: job.attempts) if job.error}


def first_failing(refs: Iterable[Ref], known: Failing) -> Listed | None:
    """The failing job of the first of these objects that has one."""
    return next((known[ref] for ref in refs if ref in known), None)


def error_of(job: Listed) -> str:
    """Its last error in one line, without the name of what it looks at."""
    return in_one_line(job.error.removeprefix(f"{job.ref}: "))


def next_try_of(job: Listed) -> str:
    """When it runs again: a time, at once, or by which command."""
    if job.state == "dead":
        return "`olmf queue retry`"
    return job.due.isoformat(timespec="seconds") if job.state == "delayed" and job.due else "now"
