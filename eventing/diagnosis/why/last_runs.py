"""The last run of each step on an object: where it left it, what it waits for, and when it is tried next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from eventing.diagnosis.why.correlation import Correlation, is_packaged
from eventing.diagnosis.why.facts import LastRun, instant
from eventing.events.former import step_now
from eventing.journal.journal_index import JournalIndex
from eventing.journal.records import Run
from eventing.routes import REPORTS
from shared.domain.objects.denials import Denial, denials, summary, until_granted
from shared.kinds import NAMESPACE, Ref

if TYPE_CHECKING:  # why: the queue brings the Redis client
    from eventing.workqueue import Listed


def last_runs(index: JournalIndex, ref: Ref, jobs: Iterable[Listed], correlation: Correlation) -> Iterator[LastRun]:
    """Of the runs on the object, then of the runs on its namespace that concern it."""
    queued = {(step_now(job.step), str(job.ref)): job for job in jobs if job.state in ("delayed", "dead")}
    own = {run.step: run for run in index.runs_for(ref)}
    for step, report in REPORTS.items():  # how far a run was says nothing any more when it has ended
        if step in own and report in own and own[report].at < own[step].at + own[step].took_ms:
            del own[report]
    everybody = index.runs_for(NAMESPACE.ref(ref.namespace)) if ref.namespace else ()
    latest = {run.id for run in (*own.values(), *{run.step: run for run in everybody}.values())}
    for run in (*own.values(), *_last_about(everybody, correlation).values()):
        if run.summary or run.failure:
            codes = tuple(one.code for one in correlation.statements(run))
            last = LastRun(run.step, correlation.message(run), instant(run.at), codes, run=run.id)
            if run.id in latest:
                last = _waiting(last, run, queued.get((run.step, run.ref)), correlation)
                last = replace(last, since=last.since or _since(index, run, correlation)) if last.waits_for else last
            yield last


def _last_about(runs: Sequence[Run], correlation: Correlation) -> dict[str, Run]:
    """By step the last run that spoke of the same package; or the last of all, if it holds up everybody."""
    found: dict[str, Run] = {}
    met: set[str] = set()
    for run in reversed(runs):
        is_last = run.step not in met
        met.add(run.step)
        if run.step in found:
            continue
        if (is_last and _holds_up(run, correlation)) or correlation.is_about(run):
            found[run.step] = run
    return dict(reversed(found.items()))


def _holds_up(run: Run, correlation: Correlation) -> bool:
    return bool(run.failure or _wait(run)) and correlation.concerns(_refused(run) or _wait(run).get("about", ()))


def _refused(run: Run) -> list[str]:
    """The objects of packages of which a write was refused, so that the run failed."""
    writes = (write for decision in run.decisions[-1:] for write in decision.writes) if run.failure else ()
    return [write.ref for write in writes if write.did == "refused" and is_packaged(write.ref)]


def _waiting(last: LastRun, run: Run, job: Listed | None, correlation: Correlation) -> LastRun:
    """With what the run waits for, unless that is something of others."""
    wait = _own_wait(run, correlation)
    last = replace(last, waits_for=wait.get("what", ""), since=wait.get("since", ""))
    if job and job.state == "dead":
        return replace(last, attempts=job.attempts)
    again, due = _next_try(run, wait), job and job.due
    if denied := _denied(run, correlation):
        lacks = summary(denied)
        what = lacks if lacks == last.message else f"permissions: {lacks}"
        # why: a run that states a time looks again by itself; otherwise that of the queue is no hint of what it takes
        return replace(last, waits_for=what, next_try=again and (due or again), until=until_granted(denied))
    return replace(last, next_try=due or again)


def _has_failed(run: Run) -> bool:
    """Whether it failed otherwise than by the decision of its step to be tried again."""
    return bool(run.failure) and not (run.decisions and run.decisions[-1].end == "retry")


def _own_wait(run: Run, correlation: Correlation) -> dict[str, Any]:
    """What the run waits for; empty where that is something of others."""
    wait = _wait(run)
    return wait if correlation.concerns(wait.get("about", ())) else {}


def _wait(run: Run) -> dict[str, Any]:
    """What the step said that it waits for; a run that failed otherwise waits for that to end, whatever it decided."""
    if _has_failed(run):
        return {"what": run.summary, "about": _refused(run)}
    return (run.decisions and run.decisions[-1].wait) or {}


def _denied(run: Run, correlation: Correlation) -> tuple[Denial, ...]:
    """What an account lacks, so that the step waits with the object; what the step itself may not do fails the run."""
    if not run.decisions or _has_failed(run):
        return ()
    return tuple(denials("; ".join((*correlation.texts(run), _own_wait(run, correlation).get("what", "")))))


def _since(index: JournalIndex, run: Run, correlation: Correlation) -> str:
    """When the first of its runs in a row began that had the same obstacle."""
    first, obstacle = run, _obstacle(run, correlation)
    for each in reversed(index.runs_for(Ref.parse(run.ref))):
        if each.step == run.step:
            if _obstacle(each, correlation) != obstacle:
                break
            first = each
    return instant(first.at).isoformat(timespec="seconds")


def _obstacle(run: Run, correlation: Correlation) -> tuple[bool, str]:
    """Whether a run failed, or was denied something, whatever that was each time; or else what it waits for."""
    if _has_failed(run) or _denied(run, correlation):
        return True, ""
    return False, _own_wait(run, correlation).get("what", "")


def _next_try(run: Run, wait: dict[str, Any]) -> datetime | None:
    if run.again_in is not None:
        return instant(run.at + run.took_ms + run.again_in * 1000)
    return datetime.fromisoformat(wait["next_try"]) if wait.get("next_try") else None
