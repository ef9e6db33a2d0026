"""Runs claims with their trace: finds the context, notes the requests, and hands spans to who sends them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias, TypeVar

from eventing.effects import Api
from eventing.events.event import change_id, change_of
from eventing.events.trace import begun_by, continued
from eventing.tracing.noted_events import noted
from eventing.tracing.requests import TracedApi, WriteRequest
from eventing.tracing.spans import Span, SpanId, TracedRun, spans_of
from eventing.workqueue import REFUSED, Claim
from eventing.workqueue.run_result import RunResult
from eventing.workqueue.trace_notes import TraceNotes
from shared.adapters.kube.transport import PRESENT_RUN
from shared.api.manifest import Manifest, resource_version_of, uid_of

Answer = TypeVar("Answer")
Run: TypeAlias = Callable[[Claim], RunResult]
VERBS = ("add", "update")
"""Of the watch event that a write may cause."""


class Sender(Protocol):
    """Takes spans to send; never waits, never raises."""

    def is_sampled(self, traceparent: str) -> bool:
        """Whether spans of that trace are sent."""
        ...

    def send(self, spans: Iterable[Span]) -> None:
        """Send them soon, or drop them."""
        ...


@dataclass(slots=True)
class TracedRuns:
    """The traced runs of one thread."""

    sender: Sender
    notes: TraceNotes
    now: Callable[[], int] = time.time_ns
    _requests: list[WriteRequest] = field(default_factory=list)
    _claims: list[Claim] = field(default_factory=list)
    """The claim whose run is under way; behind it the one of a run within it, which reports its progress."""

    def api(self, api: Api) -> TracedApi:
        """The API for the runner of this thread."""
        return TracedApi(api, self._requests, self._note_written, self.now)

    def run(self, claim: Claim, run: Run) -> RunResult:
        """The result of a run, after its spans were handed over."""
        claim, before, began = self._in_its_trace(claim), len(self._requests), self.now()
        self._claims.append(claim)
        try:
            result = run(claim)
        finally:
            self._claims.pop()
            requests = self._requests[before:]
            del self._requests[before:]
        if not result.trace or not self.sender.is_sampled(result.trace):
            return result
        self._send(TracedRun(claim, result, began, self.now(), requests))
        return replace(result, exemplar=SpanId.of(result.trace).trace)

    def _in_its_trace(self, claim: Claim) -> Claim:
        """The claim with the context of an object that a run created, where no event has brought one."""
        if claim.trace:
            return claim
        uids = [change[0] for change in map(change_of, claim.causes) if change]
        return replace(claim, trace=_answered(lambda: self.notes.context_of(uids)) or "")

    def _send(self, run: TracedRun) -> None:
        claim = run.claim
        if not claim.trace and claim.causes:
            found = _answered(lambda: self.notes.take_event(claim.causes[0]))
            if found is not None:
                run = replace(run, event=noted(found), is_begun_by_event=True)
        self.sender.send(spans_of(run))

    def _note_written(self, answer: Manifest, is_whole: bool) -> None:
        """Note the context of the run for the events of its write: another worker may have them before the run ends.

        What others do to an object of ours (a kubelet, a controller) belongs to the same trace; an edit of an object
        that we only touched begins its own.
        """
        claim, run_id = self._claims[-1], PRESENT_RUN.get()
        context = continued(claim.trace or begun_by((*claim.causes, run_id)[0]), run_id)
        uid, version = uid_of(answer), resource_version_of(answer)
        causes = [*([uid] if is_whole else ()), *(change_id(uid, version, verb) for verb in VERBS)]
        _answered(lambda: self.notes.note_context(causes, context))


def _answered(ask: Callable[[], Answer]) -> Answer | None:
    """The answer of Redis; None without one, because the run itself finds out whether that matters."""
    try:
        return ask()
    except REFUSED:  # why: a trace that lacks something is better than a run that is repeated
        return None
