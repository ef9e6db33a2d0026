"""The last verdict of each step on an object: where it stands, what it waits for, and when it is tried next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from eventing.diagnosis.why.correlation import Correlation
from eventing.diagnosis.why.facts import Stuck, instant, verdict_of
from eventing.journal.journal_index import JournalIndex
from eventing.journal.records import Run
from shared.kinds import NAMESPACE, Ref

if TYPE_CHECKING:  # why: the queue brings the Redis client
    from eventing.workqueue import Listed


def last_verdicts(book: JournalIndex, ref: Ref, jobs: Iterable[Listed], correlation: Correlation) -> Iterator[Stuck]:
    """Of the runs on the object, then of the runs on its namespace that concern it."""
    queued = {(job.step, str(job.ref)): job for job in jobs if job.state in ("delayed", "dead")}
    own = {run.step: run for run in book.runs_for(ref)}
    everybody = book.runs_for(NAMESPACE.ref(ref.namespace)) if ref.namespace else ()
    latest = {run.id for run in (*own.values(), *{run.step: run for run in everybody}.values())}
    for run in (*own.values(), *_last_about(everybody, correlation).values()):
        if verdict_of(run) or run.failure:
            stuck = Stuck(run.step, correlation.told(verdict_of(run)), instant(run.at), run=run.id)
            if run.id in latest:
                stuck = _waiting(stuck, run, queued.get((run.step, run.ref)), correlation)
                stuck = replace(stuck, since=stuck.since or _failing_since(book, run)) if stuck.waits_for else stuck
            yield stuck


def _last_about(runs: Sequence[Run], correlation: Correlation) -> dict[str, Run]:
    """By step the last run that told of the same package; or the last of all, if it holds up everybody."""
    found: dict[str, Run] = {}
    met: set[str] = set()
    for run in reversed(runs):
        is_last = run.step not in met
        met.add(run.step)
        if run.step in found:
            continue
        if (is_last and _holds_up(run, correlation)) or correlation.are_named(verdict_of(run)):
            found[run.step] = run
    return dict(reversed(found.items()))


def _holds_up(run: Run, correlation: Correlation) -> bool:
    return bool(run.failure or _wait(run)) and not correlation.is_foreign_text(verdict_of(run))


def _waiting(stuck: Stuck, run: Run, job: Listed | None, correlation: Correlation) -> Stuck:
    """With what the run waits for, unless that is something of others."""
    wait = {} if correlation.is_foreign_text(_wait(run).get("what", "")) else _wait(run)
    stuck = replace(stuck, waits_for=wait.get("what", ""), since=wait.get("since", ""))
    if job and job.state == "dead":
        return replace(stuck, attempts=job.attempts)
    return replace(stuck, next_try=(job and job.due) or _next_try(run, wait))


def _wait(run: Run) -> dict[str, Any]:
    """What the step said that it waits for; a run that failed otherwise waits for that to end, whatever it decided."""
    last = run.decisions[-1] if run.decisions else None
    if run.failure and (last is None or last.end != "retry"):
        return {"what": verdict_of(run)}
    return (last and last.wait) or {}


def _failing_since(book: JournalIndex, run: Run) -> str:
    """When the first of its failures in a row began; empty when it did not fail."""
    first = None
    for each in reversed(book.runs_for(Ref.parse(run.ref))):
        if each.step == run.step:
            if not each.failure:
                break
            first = each
    return instant(first.at).isoformat(timespec="seconds") if first else ""


def _next_try(run: Run, wait: dict[str, Any]) -> datetime | None:
    if run.again_in is not None:
        return instant(run.at + run.took_ms + run.again_in * 1000)
    return datetime.fromisoformat(wait["next_try"]) if wait.get("next_try") else None
