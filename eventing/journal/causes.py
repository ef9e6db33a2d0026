"""Why an object is as it is: write, run, causes, events, back to what came from outside; and what it waits for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

import msgspec

from eventing.journal.book import Book
from eventing.journal.records import Run, Saw, Write
from shared.kinds import NAMESPACE, SUBSCRIPTION, Ref

_MAX_CAUSES = 5
_MAX_DEPTH = 40


class Waiting(Protocol):
    """What the work queue says of a job (`eventing.workqueue.Listed`)."""

    @property
    def step(self) -> str:
        """`<group>/<step>`."""
        ...

    @property
    def ref(self) -> Ref:
        """Its key."""
        ...

    @property
    def due(self) -> datetime | None:
        """When its delay ends."""
        ...


@dataclass(frozen=True, slots=True)
class Node:
    """One fact, and what caused it."""

    kind: Literal["write", "run", "event", "unknown"]
    id: str
    text: str
    at: datetime | None = None
    causes: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Stuck:
    """How the last run of a step on the object ended, when it is not simply done."""

    step: str
    verdict: str
    at: datetime
    waits_for: str = ""
    since: str = ""
    next_try: datetime | None = None
    """None: at the next event."""
    run: str = ""


@dataclass(frozen=True, slots=True)
class Why:
    """The answer for one object."""

    ref: str
    writes: tuple[Node, ...] = ()
    """What we wrote to it, the newest first, each with its causes."""
    last: tuple[Stuck, ...] = ()
    """The last verdict of each step that looked at it, or at its namespace."""
    is_known: bool = True
    """The journal holds an event of it, a run on it or a write to it."""

    def json(self) -> Any:
        """As JSON values."""
        return msgspec.to_builtins(self)


def why(book: Book, ref: Ref, jobs: Iterable[Waiting] = (), *, writes: int = 3) -> Why:
    """The causes of the last writes to an object, and the last verdict of each step that looked at it.

    `jobs` is what the work queue holds: it knows when a waiting job is tried next.
    """
    found = list(reversed(book.writes_to(ref)))[:writes]
    tree = _Tree(book)
    nodes = tuple(tree.write(run, write) for run, write in found)
    is_known = bool(found or book.runs_for(ref) or any(saw.ref == str(ref) for saw in book.events.values()))
    return Why(str(ref), nodes, tuple(_verdicts(book, ref, tuple(jobs))), is_known)


class _Tree:
    """Walks from writes back to their causes; a run that was told of already is only named."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._told: set[str] = set()

    def write(self, run: Run, write: Write, depth: int = 0) -> Node:
        return Node(
            "write",
            f"{write.uid}.{write.version}",
            f"{write.op} {_short(write.ref)}",
            _end(run),
            (self._run(run, depth),),
        )

    def _run(self, run: Run, depth: int) -> Node:
        text = f"{run.step} on {_short(run.ref)}"
        if verdict := _verdict(run):
            text += f": {verdict}"
        if run.id in self._told or depth > _MAX_DEPTH:
            return Node("run", run.id, f"{text} (see above)", _time(run.at))
        self._told.add(run.id)
        causes = tuple(self._cause(cause, run, depth + 1) for cause in run.causes[:_MAX_CAUSES])
        if more := len(run.causes) - _MAX_CAUSES:
            causes += (Node("unknown", "", f"{more} more"),) if more > 0 else ()
        return Node("run", run.id, text, _time(run.at), causes)

    def _cause(self, cause: str, caused: Run, depth: int) -> Node:
        if rung := self._book.run(cause):
            return self._run(rung, depth)
        event = self._book.event(cause)
        writer = self._book.writer_of(cause)
        if event is None and writer is None:
            return Node("unknown", cause, f"{cause} (no longer in the journal)")
        # why: a step may have rung itself by its own write; then its causes stand above already
        causes = (self.write(*writer, depth),) if writer and writer[0].id != caused.id else ()
        return Node("event", cause, _told_by(event, writer), _time(event.at) if event else None, causes)


def _told_by(event: Saw | None, writer: tuple[Run, Write] | None) -> str:
    if event is None:
        return f"change of {_short(writer[1].ref)}" if writer else "unknown"
    ours = "" if writer or event.type.startswith("io.olmf.") else " (from outside)"
    return f"{event.type.rpartition('.')[2]} of {_short(event.ref)}{ours}"


def _verdicts(book: Book, ref: Ref, jobs: tuple[Waiting, ...]) -> Iterator[Stuck]:
    """The last run of each step on the object, then of the steps that look at its whole namespace."""
    keys = [ref, NAMESPACE.ref(ref.namespace)] if ref.namespace else [ref]
    others = _other_subscriptions(book, ref)
    for key in keys:
        last = {run.step: run for run in book.runs_for(key)}
        for step, run in last.items():
            verdict = _verdict(run) or run.message
            if not verdict and not run.failure:
                continue
            wait = (run.decisions[-1].wait or {}) if run.decisions else {}
            if key != ref and _is_about(others, wait.get("what", "")) and not _is_about([ref.name], wait["what"]):
                wait = {}
            due = next((job.due for job in jobs if (job.step, job.ref) == (step, key)), None)
            yield Stuck(
                step, verdict, _time(run.at), wait.get("what", ""), wait.get("since", ""), due or _next_try(run, wait),
                run.id,
            )  # fmt: skip


def _other_subscriptions(book: Book, ref: Ref) -> list[str]:
    """Their names: a step that looks at a whole namespace tells what the first of them waits for."""
    told = {saw.ref for saw in book.events.values()} | {run.ref for run in book.runs.values()}
    prefix = str(SUBSCRIPTION.ref("", ref.namespace))
    return [name for text in told if text.startswith(prefix) and (name := text.removeprefix(prefix)) != ref.name]


def _is_about(names: Iterable[str], text: str) -> bool:
    return any(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) for name in names)


def _next_try(run: Run, wait: dict[str, Any]) -> datetime | None:
    if run.again_in is not None:
        return _time(run.at + int(run.took_ms + run.again_in * 1000))
    return datetime.fromisoformat(wait["next_try"]) if wait.get("next_try") else None


def _verdict(run: Run) -> str:
    if run.message:
        return run.message
    return run.decisions[-1].verdict if run.decisions else ""


def _end(run: Run) -> datetime:
    return _time(run.at + int(run.took_ms))


def _time(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def _short(ref: str) -> str:
    """A ref for people: kind, namespace and name."""
    *_, kind, namespace, name = ref.split("/")
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"
