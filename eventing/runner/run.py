"""Runs the step of a claim: decides, performs the writes, decides again after some refusals, and records all of it."""

from __future__ import annotations

import secrets
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import structlog

from eventing.effects import Api, Effects, Performed
from eventing.effects.written import kind_of, target
from eventing.events.event import Event, change_id
from eventing.events.job import Job
from eventing.events.trace import begun_by, continued
from eventing.journal.call_recorder import CallRecorder
from eventing.journal.changes import keys_of, keys_of_all, reported_to
from eventing.journal.outcomes import Decided
from eventing.journal.recorder import Recorder
from eventing.journal.records import Decision, Run
from eventing.routes import BY_SUBJECT, NOTIFICATIONS, Route, Subject, jobs_for
from eventing.runner.contested import CONTESTED, OF_OBJECTS, Contested
from eventing.runner.kept_reads import encoded
from eventing.runner.lease import CheckLease, Lease, MayGoOn, QueueLost
from eventing.runner.refusals import next_attempt
from eventing.runner.steps import Step, Steps, UnknownStep, arguments
from eventing.runner.under_way import UnderWay
from eventing.workqueue import is_temporary
from eventing.workqueue.run_result import RunResult
from shared.adapters.keys import Keyring, StoredKeys
from shared.adapters.kube import ApiError
from shared.adapters.kube.answers import place_of
from shared.adapters.kube.reported import PRESENT_READS, PresentRun
from shared.adapters.kube.transport import PRESENT_RUN
from shared.kinds import Ref
from shared.ports import Attempt, Clock, Keys, Policy, WriteFailure
from shared.step import Apply, Create, Emit, Record

if TYPE_CHECKING:  # why: the queue imports the Redis client, which a replay does not need
    from eventing.workqueue import Claim

RERUNS = 3
"""How often a run decides again at once after a conflict, before it backs off."""
AT_ONCE = timedelta(0)
MOST_RESTED = 1000
_VERBS: dict[type, tuple[str, ...]] = {Create: ("add",), Apply: ("add", "update"), Record: ()}
"""The verb of the watch event that a write causes; other writes cause an `update`."""


log = structlog.get_logger()


_CURABLE = ("unavailable", "unanswered", "forbidden")
"""Refusals of a read that go away without another version of ours: the server comes back, a right is granted."""


class Runner:
    """Runs steps. One runner serves one thread."""

    def __init__(
        self,
        ports: Mapping[type, object],
        api: Api,
        clock: Clock,
        *,
        routes: Mapping[Subject, tuple[Route, ...]] = BY_SUBJECT,
        steps: Steps | None = None,
        recorder: Recorder | None = None,
        contested: Contested | None = None,
        seconds: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._ports: dict[type, object] = {Policy: Policy(), **ports, Clock: clock}
        keys = ports.get(Keys)
        self._effects = Effects(api, clock, keys.keyring if isinstance(keys, StoredKeys) else Keyring())
        self._routes = routes
        self._steps = steps or Steps()
        self._recorder = recorder or Recorder(secrets.token_bytes(16))
        self._contested = contested or Contested()
        self._seconds = seconds
        self._rested: set[tuple[str, Ref]] = set()
        """Runs here that left writes to the next one."""

    def run(self, claim: Claim, check_lease: CheckLease, may_go_on: MayGoOn | None = None) -> RunResult:
        """Run the claimed step; `check_lease` returns what is left of the lease, and receives the jobs to enqueue.

        A run that writes for long asks `may_go_on` instead, and leaves the rest to the next one while others wait.
        Raises only what these two raise, what Redis raises below a port while it is away or refuses (without it the
        result of the run cannot be stored, and the queue has what the run promised), and MemoryError (after which the
        process must not go on).
        """
        started = self._seconds()
        run_id = _new_id()
        trace = continued(claim.trace or begun_by((*claim.causes, run_id)[0]), run_id)
        claimed = {} if claim.is_alone else reported_to(claim)  # it may have waited
        reads = PresentRun(claim.step, claim.ref.namespace or claim.ref.name, claimed)
        progress = UnderWay(run_id, time.time_ns() // 1_000_000, trace, reads)
        asking = PRESENT_RUN.set(run_id)
        reading = PRESENT_READS.set(progress.reads)
        try:
            step = self._steps[claim.step]
            progress.code = step.code
            lease = Lease(check_lease, may_go_on or (lambda: (check_lease((), ()), False)), self._seconds)
            self._decide_and_perform(step, claim, lease, progress)
        except QueueLost as lost:
            raise lost.cause from None
        except MemoryError:
            raise
        except Exception as error:  # why: whatever a step or port raises ends the run, never the worker
            if is_temporary(error):
                raise
            self._fail(progress, error)
        finally:
            PRESENT_RUN.reset(asking)
            PRESENT_READS.reset(reading)
        return self._finish(claim, progress, (self._seconds() - started) * 1000)

    def _decide_and_perform(self, step: Step, claim: Claim, lease: Lease, progress: UnderWay) -> None:
        attempt = Attempt(claim.attempt, ended=claim.ended)
        for rerun in range(RERUNS + 1):
            calls = self._recorder.calls(progress.fresh)
            if rerun:
                progress.reads.decides_again()
            lease.decides()
            decided = self._decide(step, claim.ref, attempt, calls)
            if pause := self._contested.pause((claim.step, claim.ref), decided.writes):
                self._hold(progress, self._recorder.decision(calls, decided, Performed()), pause)
                return
            changed = (target(write) for write in decided.writes if not isinstance(write, Record))
            writes = (key for ref in changed for key in keys_of(ref, place_of(ref)))
            may_rest = self._may_rest(claim, decided)
            lease.records_jobs(self._jobs(progress, decided.emits), writes, may_rest=may_rest)
            progress.announced = decided.emits
            performed = self._effects.perform(decided.writes, calls.reads, lease.is_lease_valid, lease.is_over)
            progress.decisions.append(self._recorder.decision(calls, decided, performed))
            self._note(claim, progress, decided, performed)
            following = next_attempt(attempt, performed, takes_refusals=step.names(Attempt))
            if following is None or rerun == RERUNS:
                break
            attempt = following
        self._remember_rest(claim, performed)
        self._conclude(progress, decided, performed)

    def _remember_rest(self, claim: Claim, performed: Performed) -> None:
        if len(self._rested) == MOST_RESTED:  # others ran what came after them
            self._rested.clear()
        (self._rested.add if performed.is_partial else self._rested.discard)((claim.step, claim.ref))

    def _may_rest(self, claim: Claim, decided: Decided) -> bool:
        """Whether some writes may wait: not twice in a row by one worker, nor if the world outside is told of them."""
        return (claim.step, claim.ref) not in self._rested and not any(
            emit.type in NOTIFICATIONS for emit in decided.emits
        )

    def _decide(self, step: Step, ref: Ref, attempt: Attempt, calls: CallRecorder) -> Decided:
        def value(port: type) -> Any:
            provided = attempt if port is Attempt else self._ports.get(port)
            if provided is None:
                raise UnknownStep(f"step {step.name!r} asks for {port.__name__}, which this process does not have")
            if port in (Attempt, Policy):
                calls.value(port, provided)
                return provided
            return calls.port(port, provided)

        try:
            return Decided.of(step.call(ref, **arguments(step, value)))
        except MemoryError:
            raise
        except Exception as error:  # why: an exception of a step is its answer, and is recorded as such
            if is_temporary(error):
                raise
            return Decided.of(error)

    def _conclude(self, progress: UnderWay, decided: Decided, performed: Performed) -> None:
        progress.summary, progress.message, progress.is_waiting = decided.message, "", decided.wait is not None
        if performed.is_lost:
            progress.failure, progress.message = "lost", "the lease was gone before a write"
        elif performed.failure:
            progress.failure, progress.message = "retry", _sentence(performed.failure)
        elif performed.is_partial:
            progress.again_in = AT_ONCE
        elif decided.end == "bug" and decided.error is not None:
            self._fail(progress, decided.error)
        elif decided.end == "retry":
            progress.failure, progress.message, progress.again_in = "retry", decided.message, decided.again_in
        else:
            progress.again_in = decided.again_in
            progress.read_set = encoded(progress.code, decided.read_set)

    def _jobs(self, progress: UnderWay, emits: Iterable[Emit] = ()) -> tuple[Job, ...]:
        """The jobs that the run enqueues: for its emits so far, and for these."""
        trace = progress.traceparent
        events = (
            Event(f"{progress.run_id}.{index}", emit.type, "olmf", emit.ref, traceparent=trace)
            for index, emit in enumerate([*progress.emits, *emits])
        )
        return tuple(dict.fromkeys(job for event in events for job in jobs_for(event, self._routes)))

    def _fail(self, progress: UnderWay, error: BaseException) -> None:
        progress.message = f"{type(error).__name__}: {error}"
        if isinstance(error, ApiError) and kind_of(error) in _CURABLE:
            progress.failure = "retry"
            return
        progress.failure = "bug"
        progress.traceback = "".join(traceback.format_exception(error))

    def _hold(self, progress: UnderWay, decision: Decision, pause: timedelta) -> None:
        """Write nothing now: somebody takes it back each time."""
        progress.decisions.append(decision)
        progress.again_in, progress.is_waiting = pause, True
        progress.summary = progress.message = f"{CONTESTED}; they wait for {pause.total_seconds():.0f} s"

    def _note(self, claim: Claim, progress: UnderWay, decided: Decided, performed: Performed) -> None:
        """Note the writes and the jobs they enqueue, also when a later write was refused.

        The next decision reads these writes, finds nothing changed, and so would not emit the events again.
        """
        answers = zip(decided.writes, performed.written, strict=False)
        sent = [write for write, written in answers if written.did == "sent"]
        if performed.is_complete or sent:
            progress.emits += decided.emits
        if not performed.is_partial and any(isinstance(write, OF_OBJECTS) for write in sent):
            self._contested.note((claim.step, claim.ref), decided.writes)
        progress.announced = ()
        progress.warned += performed.warned
        for write, written in zip(decided.writes, performed.written, strict=False):
            if written.did == "sent":
                progress.writes += 1
                verbs = _VERBS.get(type(write), ("update",)) if written.resource_version else ()
                progress.own_events += [change_id(written.uid, written.resource_version, verb) for verb in verbs]

    def _finish(self, claim: Claim, progress: UnderWay, took_ms: float) -> RunResult:
        jobs = self._jobs(progress, progress.announced)
        progress.only_encodable()
        run = Run(
            id=progress.run_id,
            step=claim.step,
            ref=str(claim.ref),
            at=progress.at,
            took_ms=round(took_ms, 3),
            code=progress.code,
            attempt=claim.attempt,
            causes=list(claim.causes),
            waited_ms=claim.waited_ms,
            decisions=progress.decisions,
            failure=progress.failure,
            message=progress.message,
            traceback=progress.traceback,
            again_in=None if progress.again_in is None else progress.again_in.total_seconds(),
            jobs=[[job.step, str(job.ref)] for job in jobs],
            trace=progress.traceparent,
        )
        record = self._recorder.record(run, progress.fresh)
        self._log(run, progress)
        return RunResult(
            progress.run_id, record, jobs, progress.again_in, progress.failure, progress.message,
            tuple(progress.own_events), is_waiting=progress.is_waiting, took_ms=took_ms, trace=progress.traceparent,
            warned=progress.warned, counted=keys_of_all(progress.reads.written), read_set=progress.read_set,
        )  # fmt: skip

    def _log(self, run: Run, progress: UnderWay) -> None:
        level = log.error if run.failure == "bug" else log.info
        extra = {
            "failure": run.failure, "message": run.message, "again_in": run.again_in, "traceparent": run.trace,
            "traceback": run.traceback,
        }  # fmt: skip
        level(
            "step_done",
            run=run.id,
            step=run.step,
            ref=run.ref,
            attempt=run.attempt,
            writes=progress.writes,
            summary=progress.summary,
            took_ms=run.took_ms,
            waited_ms=run.waited_ms,
            causes=run.causes,
            **{key: value for key, value in extra.items() if value not in ("", None)},
        )


def _sentence(failure: WriteFailure) -> str:
    return f"write {failure.index} ({failure.ref}) was refused, {failure.kind}: {failure.message}"


def _new_id() -> str:
    """A new run id: sorts by time, and is unique without coordination."""
    return f"{time.time_ns() // 1_000_000:012x}-{secrets.token_hex(5)}"
