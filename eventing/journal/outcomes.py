"""Outcomes as JSON values: what the journal stores and what a replay compares."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from eventing.effects.written import target
from shared.api.manifest import Manifest
from shared.domain.statement import sentence
from shared.errors import RetryLater, StepError, Terminal
from shared.names import FIELD_MANAGER
from shared.step import (
    Apply,
    Create,
    Delete,
    Emit,
    Merge,
    Outcome,
    Record,
    Replace,
    SetStatus,
    Statement,
    StoreKeys,
    Try,
    Wait,
    Write,
)


@dataclass(frozen=True, slots=True)
class Decided:
    """How one call of a step ended."""

    end: Literal["outcome", "retry", "terminal", "bug"]
    writes: tuple[Write, ...] = ()
    emits: tuple[Emit, ...] = ()
    again_in: timedelta | None = None
    summary: str = ""
    wait: Wait | None = None
    reason: str = ""
    """Of a Terminal; of a bug its class."""
    error: BaseException | None = None
    """Of a bug."""
    statements: tuple[Statement, ...] = ()
    read_set: Manifest | None = None
    """Kept by the queue, not by the journal: it follows from the answers."""

    @classmethod
    def of(cls, answer: object) -> Decided:
        """What a step returned or raised. TypeError when it is no Outcome."""
        match answer:
            case Outcome():
                fields = (answer.writes, answer.emits, answer.again_in, answer.summary, answer.wait)
                return cls("outcome", *fields, statements=answer.statements, read_set=answer.read_set)
            case RetryLater():
                return cls("retry", answer.writes, (), answer.after, answer.message, answer.wait)
            case Terminal():
                return cls("terminal", answer.writes, (), None, answer.message, answer.wait, answer.reason)
            case StepError():
                return cls("retry", summary=str(answer))
            case BaseException():
                return cls(
                    "bug", summary=f"{type(answer).__name__}: {answer}", reason=type(answer).__name__, error=answer
                )
        raise TypeError(f"a step returns an Outcome, not {type(answer).__name__}")

    @property
    def message(self) -> str:
        """The decision in one sentence."""
        return self.summary or sentence(self.statements)

    def rest(self) -> Manifest:
        """Everything but the writes, the end, the summary and the statements, as JSON."""
        rest: Manifest = {}
        if self.reason:
            rest["reason"] = self.reason
        if self.again_in is not None:
            rest["again_in"] = self.again_in.total_seconds()
        if self.wait:
            rest["wait"] = wait_json(self.wait)
        if self.emits:
            rest["emits"] = [{"type": emit.type, "ref": str(emit.ref)} for emit in self.emits]
        return rest


def wait_json(wait: Wait | None) -> Manifest | None:
    """A Wait as JSON."""
    if wait is None:
        return None
    since = {"since": wait.since.isoformat()} if wait.since else {}
    next_try = wait.next_try.isoformat() if wait.next_try else None
    about = {"about": list(map(str, wait.about))} if wait.about else {}
    return {"what": wait.what, **since, "next_try": next_try, **about}


def write_json(write: Write) -> Manifest:
    """A write as JSON: its name in `op`, its ref, and its fields."""
    op: dict[str, Any] = {"op": type(write).__name__, "ref": str(target(write))}
    if identity := getattr(write, "identity", None):
        op["identity"] = str(identity)
    match write:
        case Create(manifest, note) | Replace(manifest, note):
            alone = {"must_be_new": True} if isinstance(write, Create) and write.must_be_new else {}
            warning = {"on_warning": write_json(note)} if note else {}
            return {**op, **_manager(write, ""), "manifest": manifest, **warning, **alone}
        case StoreKeys(manifest, texts, keys):
            return {**op, "manifest": manifest, "texts": dict(texts), "keys": dict(keys)}
        case Apply(manifest) | Try(manifest):
            return {**op, **_manager(write, FIELD_MANAGER), "manifest": manifest}
        case Merge(_, patch, version):
            return {**op, "patch": patch, "resourceVersion": version}
        case SetStatus(_, status, version):
            return {**op, "status": status, "resourceVersion": version}
        case Delete(_, uid, propagation):
            locked = {"resourceVersion": write.resource_version} if write.resource_version else {}
            return {**op, "uid": uid, "propagation": propagation, **locked}
        case Record(_, kind, reason, message, path):
            return {**op, "type": kind, "reason": reason, "message": message, **({"fieldPath": path} if path else {})}


def _manager(write: Write, usual: str) -> Manifest:
    manager = getattr(write, "field_manager", usual)
    return {} if manager == usual else {"field_manager": manager}
