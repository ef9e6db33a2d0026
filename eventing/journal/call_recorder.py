"""The calls of one decision: every port that a step asks writes down what it was asked and what it said."""

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
"""Answers of these types stand in the record itself."""


class Question(NamedTuple):
    """What a step asked of a port."""

    port: str
    method: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def as_json(self) -> tuple[str, str, Any, Any]:
        """As it is stored."""
        args = as_json(self.args) if self.args else None
        return (self.port, self.method, args, as_json(self.kwargs) if self.kwargs else None)

    def is_about_secrets(self) -> bool:
        """An argument names the kind Secret: what comes back need not say so."""
        asked = (*self.args, *self.kwargs.values()) if self.kwargs else self.args
        return any(isinstance(argument, Ref | Kind) and argument.kind == SECRET.kind for argument in asked)


class CallRecorder:
    """Answers of ports in the order they were given, and what of the cluster they showed."""

    def __init__(self, bodies: Bodies, fresh: dict[str, msgspec.Raw]) -> None:
        self._bodies = bodies
        self.fresh = fresh
        self.answers: list[Answer] = []
        self.reads: dict[Ref, Manifest | None] = {}

    def port(self, port: type, target: object) -> Any:
        """The port, recorded."""
        return _Recorded(self, port.__name__, target)

    def value(self, port: type, value: object) -> None:
        """A value that the step was given (`Policy`, `Attempt`)."""
        self.answers.append(self._answer(Question(port.__name__, "", (), {}), value))

    def note(self, question: Question, answer: Any) -> None:
        """Write down one answer."""
        self.answers.append(self._answer(question, answer))
        if question.port in ("Cluster", "Accounts") and not isinstance(answer, Denied):
            self._note_reads(question.args, answer)

    def refused(self, question: Question, error: Exception) -> None:
        """Write down that a port raised."""
        self.answers.append(Answer(*question.as_json(), error=_error(error)))

    def _note_reads(self, args: tuple[Any, ...], answer: Any) -> None:
        if isinstance(answer, tuple):
            self.reads.update((ref, manifest) for manifest in answer if (ref := Ref.read(manifest)))
        elif args and isinstance(args[0], Ref):
            self.reads[args[0]] = answer

    def _answer(self, question: Question, value: Any) -> Answer:
        asked = question.as_json()
        if value is None or isinstance(value, _SCALARS):
            return Answer(*asked, type=_class(value), value=value)
        secret = question.is_about_secrets()
        if isinstance(value, dict):
            return Answer(*asked, body=self._keep(value, secret))
        if isinstance(value, tuple) and (not value or isinstance(value[0], dict)):
            return Answer(*asked, bodies=[self._keep(item, secret) for item in value])
        return Answer(*asked, type=_class(value), body=self._keep(value, secret))

    def _keep(self, value: Any, secret: bool) -> str:
        return self._bodies.keep(value, self.fresh, is_secret=secret, is_answer=True)


class _Recorded:
    """Stands before a port: passes every question on, and notes the answer."""

    __slots__ = ("_calls", "_name", "_target")

    def __init__(self, calls: CallRecorder, name: str, target: object) -> None:
        self._calls = calls
        self._name = name
        self._target = target

    def __getattr__(self, method: str) -> Callable[..., Any]:
        ask = getattr(self._target, method)
        calls, name = self._calls, self._name
        if (name, method) in AT_ONCE:
            return lambda asked: self._asked_at_once(method, asked)

        def asked(*args: Any, **kwargs: Any) -> Any:
            try:
                answer = ask(*args, **kwargs)
            except Exception as error:
                calls.refused(Question(name, method, args, kwargs), error)
                raise
            calls.note(Question(name, method, args, kwargs), answer)
            return answer

        return asked

    def _asked_at_once(self, method: str, asked: Sequence[Any]) -> tuple[Any, ...]:
        """Several questions at once are recorded as each alone: it does not matter to a replay how they were asked."""
        single, call = AT_ONCE[self._name, method]
        questions = [Question(self._name, single, *call(one)) for one in asked]
        try:
            answers: tuple[Any, ...] = getattr(self._target, method)(asked)
        except Exception as error:
            self._calls.refused(questions[0], error)
            raise
        for question, answer in zip(questions, answers, strict=True):
            self._calls.note(question, answer)
        return answers


def _of_listing(one: Listing) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (one.kind, one.namespace), {"labels": one.labels} if one.labels else {}


AT_ONCE: Mapping[tuple[str, str], tuple[str, Callable[[Any], tuple[tuple[Any, ...], dict[str, Any]]]]] = {
    ("Cluster", "get_all"): ("get", lambda ref: ((ref,), {})),
    ("Cluster", "list_all"): ("list", _of_listing),
}
"""Methods that ask several questions at once: which method asks one of them, and its arguments."""


def as_json(arguments: Any) -> Any:
    """Arguments of a question as they are stored."""
    if isinstance(arguments, tuple):
        return [_stored(value) for value in arguments]
    return {key: _stored(value) for key, value in arguments.items()}


def _stored(value: Any) -> Any:
    """A ref in one word; of an object its ref and digest, which tell the question from others, and have an end."""
    if isinstance(value, Ref):
        return str(value)
    if isinstance(value, dict) and (ref := Ref.read(value)):
        return f"{ref} sha256:{sha256(msgspec.json.encode(value, order='deterministic')).hexdigest()}"
    return value


def _class(value: Any) -> str:
    return type(value).__name__ if hasattr(value, "__dataclass_fields__") else ""


def _error(error: Exception) -> list[str]:
    """Class, sentence, and what a replay needs to raise it again."""
    match error:
        case RetryLater():
            return [type(error).__name__, error.message, str(error.after.total_seconds())]
        case Terminal():
            return [type(error).__name__, error.message, error.reason]
    return [type(error).__name__, str(error)]
