"""Makes spans of an event, a run and its requests: ids, codes and numbers, never a text of an object or of a server."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from eventing.events.trace import begun_by
from eventing.journal.records import Run, unpack_brief_run
from eventing.tracing.noted_events import NotedEvent
from eventing.tracing.requests import WriteRequest
from eventing.workqueue import Claim
from eventing.workqueue.run_result import RunResult
from shared.kinds import Ref

Attribute: TypeAlias = str | int | tuple[str, ...]
SpanKind: TypeAlias = Literal["producer", "consumer", "client"]


class SpanId(NamedTuple):
    """A span within its trace, in hexadecimal digits as `traceparent` has them."""

    trace: str
    span: str

    @classmethod
    def of(cls, traceparent: str) -> SpanId:
        """The ids in a valid trace context."""
        _, trace, span, _ = traceparent.split("-")
        return cls(trace, span)


@dataclass(frozen=True, slots=True)
class Span:
    """One span that has ended; times in nanoseconds since the epoch."""

    name: str
    id: SpanId
    parent: SpanId | None
    kind: SpanKind
    began: int
    ended: int
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    has_failed: bool = False


@dataclass(frozen=True, slots=True)
class TracedRun:
    """A run that has ended, with what its spans need besides its record."""

    claim: Claim
    result: RunResult
    began: int
    ended: int
    requests: Sequence[WriteRequest] = ()
    event: NotedEvent | None = None
    """The event that began the trace, if this is the first run that it caused."""
    is_begun_by_event: bool = False
    """Whether the span of that event is sent, by this run or by another one."""


def spans_of(run: TracedRun) -> Iterator[Span]:
    """The span of the run, before it that of the event that began the trace, behind it those of its requests."""
    own = SpanId.of(run.result.trace)
    parent = _parent(run, own)
    if run.event is not None:
        yield _span_of_event(run.event, parent or own, run.began)
    yield Span(
        run.claim.step, own, parent, "consumer", run.began, run.ended, _attributes(run), bool(run.result.failure)
    )
    for index, request in enumerate(run.requests):
        yield _span_of_request(request, own, f"{run.result.run_id}.{index}")


def _parent(run: TracedRun, own: SpanId) -> SpanId | None:
    """The span that caused the run: another run, the sender of the event, or the event itself; None for a new trace."""
    claim = run.claim
    begun = begun_by(claim.causes[0]) if claim.causes and run.is_begun_by_event else ""
    context = claim.trace or begun
    return SpanId.of(context) if context.count("-") == 3 and SpanId.of(context).trace == own.trace else None


def _attributes(run: TracedRun) -> Mapping[str, Attribute]:
    claim, result = run.claim, run.result
    record = unpack_brief_run(result.record).run if result.record else None
    return _present(
        {
            "olmf.run": result.run_id,
            "olmf.step": claim.step,
            "olmf.ref": str(claim.ref),
            "k8s.namespace.name": claim.ref.namespace,
            "olmf.attempt": claim.attempt,
            "olmf.waited_ms": claim.waited_ms,
            "olmf.outcome": result.end,
            "olmf.codes": _codes(record),
            "olmf.causes": claim.causes,
            "error.type": _error(record) or result.failure,
        }
    )


def _codes(record: Run | None) -> tuple[str, ...]:
    """The codes of what the run states about packages."""
    statements = record.decisions[-1].statements if record and record.decisions else []
    return tuple(dict.fromkeys(one.code for one in statements))


def _error(record: Run | None) -> str:
    """The kind of the refusal that stopped its writes."""
    return record.decisions[-1].failure if record and record.decisions else ""


def _span_of_event(event: NotedEvent, own: SpanId, ended: int) -> Span:
    """It lasts until its first run begins."""
    ref, verb = Ref.parse(event.ref), event.type.rpartition(".")[2]
    attributes = {
        "cloudevents.event_id": event.id,
        "cloudevents.event_type": event.type,
        "cloudevents.event_source": event.source,
        "cloudevents.event_subject": event.ref,
        "k8s.namespace.name": ref.namespace,
    }
    return Span(
        f"{verb} {ref.kind}", own, None, "producer", event.at, max(ended, event.at), _present(attributes)
    )  # fmt: skip


def _span_of_request(request: WriteRequest, parent: SpanId, identity: str) -> Span:
    attributes = {
        "http.request.method": request.method,
        "http.response.status_code": request.status,
        "olmf.ref": str(request.ref),
        "k8s.namespace.name": request.ref.namespace,
        "error.type": request.error,
    }
    own = SpanId(parent.trace, hashlib.blake2b(identity.encode(), digest_size=8).hexdigest())
    name = f"{request.verb} {request.ref.kind}"
    return Span(
        name, own, parent, "client", request.began, request.ended, _present(attributes), bool(request.error)
    )  # fmt: skip


def _present(attributes: Mapping[str, Attribute]) -> Mapping[str, Attribute]:
    return {name: value for name, value in attributes.items() if value not in ("", 0, ())}
