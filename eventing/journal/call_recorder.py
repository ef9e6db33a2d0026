"""The calls of one decision: each call of a port is recorded with its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from eventing.journal.bodies import Bodies
from eventing.journal.records import Answer
from shared.api.manifest import Manifest
from shared.errors import RetryLater, Terminal
from shared.kinds import SECRET, Kind, Ref
from shared.ports import Denied, Listing

_SCALARS = (str, bool, int, datetime, Kind)
"""Answers of these types are stored in the record itself."""


class PortCall(NamedTuple):
    """A call of a port by a step."""

    port: str
    method: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def as_json(self) -> tuple[str, str, Any, Any]:
        """The stored form."""
        args = as_json(self.args) if self.args else None
        return (self.port, self.method, args, as_json(self.kwargs) if self.kwargs else None)

    def is_about_secrets(self) -> bool:
        """Whether an argument names the kind Secret; the answer need not name it."""
        arguments = (*self.args, *self.kwargs.values()) if self.kwargs else self.args
        return any(isinstance(argument, Ref | Kind) and argument.kind == SECRET.kind for argument in arguments)


class CallRecorder:
    """The answers of ports in order, and the objects of the cluster in them."""

    def __init__(self, bodies: Bodies, fresh: dict[str, msgspec.Raw]) -> None:
        self._bodies = bodies
        self.fresh = fresh
        self.answers: list[Answer] = []
        self.reads: dict[Ref, Manifest | None] = {}

    def port(self, port: type, target: object) -> Any:
        """The port, recorded."""
        return _Recorded(self, port.__name__, target)

    def value(self, port: type, value: object) -> None:
        """Record a parameter of the step that is a value (`Policy`, `Attempt`)."""
        self.answers.append(self._answer(PortCall(port.__name__, "", (), {}), value))

    def note(self, call: PortCall, answer: Any) -> None:
        """Record one answer."""
        self.answers.append(self._answer(call, answer))
        if call.port in ("Cluster", "Accounts") and not isinstance(answer, Denied):
            self._note_reads(call.args, answer)

    def refused(self, call: PortCall, error: Exception) -> None:
        """Record that a port raised."""
        self.answers.append(Answer(*call.as_json(), error=_error(error)))

    def _note_reads(self, args: tuple[Any, ...], answer: Any) -> None:
        if isinstance(answer, tuple):
            self.reads.update((ref, manifest) for manifest in answer if (ref := Ref.read(manifest)))
        elif args and isinstance(args[0], Ref):
            self.reads[args[0]] = answer

    def _answer(self, call: PortCall, value: Any) -> Answer:
        fields = call.as_json()
        if value is None or isinstance(value, _SCALARS):
            return Answer(*fields, type=_class(value), value=value)
        secret = call.is_about_secrets()
        if isinstance(value, dict):
            return Answer(*fields, body=self._keep(value, secret))
        if isinstance(value, tuple) and (not value or isinstance(value[0], dict)):
            return Answer(*fields, bodies=[self._keep(item, secret) for item in value])
        return Answer(*fields, type=_class(value), body=self._keep(value, secret))

    def _keep(self, value: Any, secret: bool) -> str:
        return self._bodies.keep(value, self.fresh, is_secret=secret, is_answer=True)


class _Recorded:
    """Wraps a port: passes on each call, and records its answer."""

    __slots__ = ("_calls", "_name", "_target")

    def __init__(self, calls: CallRecorder, name: str, target: object) -> None:
        self._calls = calls
        self._name = name
        self._target = target

    def __getattr__(self, method: str) -> Callable[..., Any]:
        ask = getattr(self._target, method)
        calls, name = self._calls, self._name
        if (name, method) in AT_ONCE:
            return lambda items: self._record_at_once(method, items)

        def recorded(*args: Any, **kwargs: Any) -> Any:
            try:
                answer = ask(*args, **kwargs)
            except Exception as error:
                calls.refused(PortCall(name, method, args, kwargs), error)
                raise
            calls.note(PortCall(name, method, args, kwargs), answer)
            return answer

        return recorded

    def _record_at_once(self, method: str, items: Sequence[Any]) -> tuple[Any, ...]:
        """Record one call with several items as several calls with one item each: a replay may make either."""
        single, arguments_of = AT_ONCE[self._name, method]
        calls = [PortCall(self._name, single, *arguments_of(one)) for one in items]
        try:
            answers: tuple[Any, ...] = getattr(self._target, method)(items)
        except Exception as error:
            self._calls.refused(calls[0], error)
            raise
        for call, answer in zip(calls, answers, strict=True):
            self._calls.note(call, answer)
        return answers


def _of_listing(one: Listing) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (one.kind, one.namespace), {"labels": one.labels} if one.labels else {}


AT_ONCE: Mapping[tuple[str, str], tuple[str, Callable[[Any], tuple[tuple[Any, ...], dict[str, Any]]]]] = {
    ("Cluster", "get_all"): ("get", lambda ref: ((ref,), {})),
    ("Cluster", "list_all"): ("list", _of_listing),
}
"""Methods for several items at once: the method for one item, and its arguments."""


def as_json(arguments: Any) -> Any:
    """The stored form of the arguments of a call."""
    if isinstance(arguments, tuple):
        return [_stored(value) for value in arguments]
    return {key: _stored(value) for key, value in arguments.items()}


def _stored(value: Any) -> Any:
    """A ref as text; an object as its ref and digest, which are short and still tell calls apart."""
    if isinstance(value, Ref):
        return str(value)
    if isinstance(value, dict) and (ref := Ref.read(value)):
        return f"{ref} sha256:{sha256(msgspec.json.encode(value, order='deterministic')).hexdigest()}"
    return value


def _class(value: Any) -> str:
    return type(value).__name__ if hasattr(value, "__dataclass_fields__") else ""


def _error(error: Exception) -> list[str]:
    """Class, message, and what a replay needs to raise it again."""
    match error:
        case RetryLater():
            return [type(error).__name__, error.message, str(error.after.total_seconds())]
        case Terminal():
            return [type(error).__name__, error.message, error.reason]
    return [type(error).__name__, str(error)]
