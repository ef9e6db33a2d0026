"""The shapes of journal entries: one for each event, one for each run."""

from __future__ import annotations

import zlib
from typing import Any

import msgspec

from eventing.events import former
from eventing.events.event import Event
from shared.domain.statement import Statement
from shared.kinds import Ref

STREAM = "olmf:journal"
"""The Redis stream that holds the journal."""
RUN = "run"
"""The field of a stream entry that tells of a run; the work queue writes it in the call that ends the run."""
EVENT = "event"
"""The field of a stream entry that tells of an event."""

_DEFLATE_FROM = 4096


class ReceivedEvent(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """An event that came in."""

    id: str
    type: str
    ref: str
    at: int
    """Milliseconds since the epoch."""
    source: str = ""
    hints: dict[str, str] = {}
    trace: str = ""

    @classmethod
    def of(cls, event: Event, at: int) -> ReceivedEvent:
        """The entry of an event."""
        return cls(event.id, event.type, str(event.ref), at, event.source, dict(event.hints), event.traceparent)

    def event(self) -> Event:
        """The event again."""
        return Event(self.id, self.type, self.source, Ref.parse(self.ref), self.hints, self.trace)


class Answer(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What a port said: inline, or by the digest of a body, or of one body per item."""

    port: str
    method: str
    args: Any = None
    """As JSON values, refs in one word."""
    kwargs: Any = None
    type: str = ""
    """The class of an answer that is a dataclass."""
    value: Any = None
    body: str = ""
    bodies: list[str] | None = None
    error: list[str] | None = None
    """Class and sentence of what the port raised instead, and the delay or reason of a StepError."""


class Write(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One write of an Outcome and what the API server answered."""

    op: str
    ref: str
    body: str = ""
    """Digest of the whole write as JSON."""
    did: str = ""
    """`sent`, `same`, `exists`, `absent`, `refused`; empty: not tried."""
    uid: str = ""
    version: str = ""
    status: int = 0
    message: str = ""


class StatementRecord(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A statement of a step about some objects."""

    about: list[str]
    """Refs."""
    code: str
    """Of the closed set `shared.domain.statement.Code` of the build that ran."""
    message: str

    @classmethod
    def of(cls, statement: Statement) -> StatementRecord:
        """The entry of a statement."""
        return cls(list(map(str, statement.about)), statement.code, statement.message)


class Decision(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One call of the step: what it was told, what it decided, what became of it."""

    answers: list[Answer]
    end: str
    """`outcome`, `retry`, `terminal` or `bug`."""
    writes: list[Write] = []
    rest: dict[str, Any] | None = None
    """Everything else that was decided, as JSON: wait, emits, delay, reason."""
    summary: str = msgspec.field(name="verdict", default="")
    """One sentence; `verdict` is its name in the journals and captures of all builds."""
    wait: dict[str, Any] | None = None
    failure: str = ""
    """Which kind of refusal stopped the writes."""
    statements: list[StatementRecord] = []
    """Its statements about single packages. Former builds wrote only a summary, which is then about everybody."""

    @property
    def message(self) -> str:
        """The decision in one sentence."""
        return self.summary or "; ".join(one.message for one in self.statements)


class Run(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One run of a step."""

    id: str
    step: str
    ref: str
    at: int
    """When it started, milliseconds since the epoch."""
    took_ms: float
    code: str
    """The version of the code that ran."""
    attempt: int = 1
    causes: list[str] = []
    waited_ms: int = 0
    decisions: list[Decision] = []
    failure: str = ""
    message: str = ""
    traceback: str = ""
    again_in: float | None = None
    """Seconds until the same step looks again."""
    jobs: list[list[str]] = []
    """Step and ref of what the emitted events enqueued."""
    trace: str = ""

    @property
    def summary(self) -> str:
        """The sentence with which it ended: its failure, else its last decision; empty when there is nothing to say."""
        return self.message or (self.decisions[-1].message if self.decisions else "")


class Recorded(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A stored run: the run, and the bodies that this process had not stored lately."""

    run: Run
    bodies: dict[str, msgspec.Raw] = {}


class _BriefDecision(msgspec.Struct, frozen=True, gc=False):
    """A decision without what the step was told: the decoder passes over the rest, which is most of an entry."""

    end: str
    writes: list[Write] = []
    summary: str = msgspec.field(name="verdict", default="")
    wait: dict[str, Any] | None = None
    failure: str = ""
    statements: list[StatementRecord] = []


class _BriefRun(Run, frozen=True, omit_defaults=True, gc=False):
    decisions: list[_BriefDecision] = []  # type: ignore[assignment]  # why: only what is decoded differs


class _BriefRecorded(msgspec.Struct, frozen=True, gc=False):
    run: _BriefRun


_encoder = msgspec.json.Encoder()
_runs = msgspec.json.Decoder(Recorded)
_brief_runs = msgspec.json.Decoder(_BriefRecorded)
_events = msgspec.json.Decoder(ReceivedEvent)


def pack(entry: Recorded | ReceivedEvent) -> bytes:
    """The bytes of an entry; long ones are deflated."""
    return deflated(_encoder.encode(entry))


def deflated(data: bytes) -> bytes:
    """The bytes, deflated when they are many."""
    return data if len(data) < _DEFLATE_FROM else zlib.compress(data, 1)


def unpack_run(data: bytes) -> Recorded:
    """The inverse of `pack` for a run. ValueError when it is something else."""
    found = _runs.decode(inflated(data))
    return Recorded(_under_present_names(found.run), found.bodies)


def unpack_brief_run(data: bytes) -> Recorded:
    """A run without what its steps were told, and without bodies. ValueError when it is something else."""
    run = _under_present_names(_brief_runs.decode(inflated(data)).run)
    decisions = [
        Decision(
            [], one.end, one.writes, summary=one.summary, wait=one.wait, failure=one.failure, statements=one.statements
        )
        for one in run.decisions
    ]
    fields = {name: getattr(run, name) for name in Run.__struct_fields__}
    return Recorded(Run(**{**fields, "decisions": decisions}))


def _under_present_names(run: Run) -> Run:
    """The run of an earlier build with the present names of its step and its jobs."""
    if run.step not in former.STEPS and not any(step in former.STEPS for step, _ in run.jobs):
        return run
    jobs = [[former.step_now(step), ref] for step, ref in run.jobs]
    return msgspec.structs.replace(run, step=former.step_now(run.step), jobs=jobs)


def unpack_event(data: bytes) -> ReceivedEvent:
    """The inverse of `pack` for an event. ValueError when it is something else."""
    found = _events.decode(inflated(data))
    return msgspec.structs.replace(found, type=former.type_now(found.type))


def inflated(data: bytes) -> bytes:
    """The JSON of an entry. ValueError when it is none."""
    try:
        return data if data.startswith(b"{") else zlib.decompress(data)
    except zlib.error as error:
        raise ValueError(f"not a journal entry: {error}") from error
