"""Ports that answer from a recording, with the same types as the real ports."""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from functools import cache
from typing import Any, TypeAlias, Union, get_args, get_origin, get_type_hints

import msgspec

from eventing.diagnosis.replay.world_ports import NothingRead
from eventing.events.former import FIELDS
from eventing.journal.call_recorder import AT_ONCE, as_json
from eventing.journal.journal_index import JournalIndex
from eventing.journal.records import Answer
from shared.errors import RetryLater, Terminal
from shared.kinds import Kind
from shared.ports import Discovery, ReadSets


class NotRecorded(LookupError):
    """The step asks a question that it did not ask in the recording."""


NOT_ASKED_EARLIER: Mapping[tuple[type, str], Callable[..., Any]] = {
    (ReadSets, "of"): NothingRead().of,
    (ReadSets, "keep_only"): NothingRead().keep_only,
}
"""What steps of earlier builds did not ask, to an answer with which they decide as they did."""

Timed: TypeAlias = tuple[int, Answer]
"""An answer and its time, in milliseconds since the epoch."""


class Answers:
    """The answers of one decision: each question gets its recorded answers in order, then the last of them again."""

    def __init__(self, index: JournalIndex, answers: Iterable[Timed]) -> None:
        self._index = index
        self._recorded: dict[tuple[str, str], list[Timed]] = defaultdict(list)
        for at, answer in answers:
            self._recorded[answer.port, answer.method].append((at, answer))
        self._found: dict[tuple[str, str, bytes], list[Timed]] = {}

    def port(self, port: type) -> Any:
        """The port, or the value, that the step names."""
        if values := self._recorded.get((port.__name__, "")):
            return self._value(values[0][1], port)
        if dataclasses.is_dataclass(port):
            return self._value(self._setting(port), port)
        return _Replayed(self, port)

    def ask(self, port: type, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The recorded answer. NotRecorded when there is none, Unrecorded when a body is missing."""
        arguments = _key_of_arguments(port, method, as_json(args), as_json(kwargs))
        key = (port.__name__, method, arguments)
        if key not in self._found:
            self._found[key] = [
                (at, answer)
                for at, answer in self._recorded[port.__name__, method]
                if _key_of_arguments(port, method, answer.args, answer.kwargs) == arguments
            ]
        if not self._found[key] and (port, method) in NOT_ASKED_EARLIER:
            return NOT_ASKED_EARLIER[port, method](*args)
        if not self._found[key]:
            raise NotRecorded(f"{port.__name__}.{method}({arguments.decode()}) was not asked when it was recorded")
        answer = self.pick(self._found[key])
        if answer.error:
            raise _error(*answer.error)
        return self._value(answer, _returned(port, method))

    def pick(self, answers: list[Timed]) -> Answer:
        """The answer for this call; an answer that must not be given again is removed from the list."""
        return (answers.pop(0) if len(answers) > 1 else answers[0])[1]

    def _setting(self, port: type) -> Answer:
        """A value that this step was not given, as another one was: an installation has one for all. NotRecorded."""
        decisions = (decision for run in self._index.runs.values() for decision in run.decisions)
        answers = (answer for one in decisions for answer in one.answers)
        settings = (answer for answer in answers if (answer.port, answer.method) == (port.__name__, ""))
        if (found := next(settings, None)) is None:
            raise NotRecorded(f"no step was given {port.__name__} when it was recorded")
        return found

    def _value(self, answer: Answer, hint: Any) -> Any:
        if answer.bodies is not None:
            return tuple(msgspec.json.decode(self._index.body(digest)) for digest in answer.bodies)
        value = msgspec.json.decode(self._index.body(answer.body)) if answer.body else answer.value
        return decode(value, hint, answer.type)


class AnswersInTime(Answers):
    """The answers of a world: each question gets the last answer recorded up to the present time, at every call."""

    def __init__(self, index: JournalIndex, answers: Iterable[Timed], now_ms: Callable[[], int]) -> None:
        super().__init__(index, answers)
        self._now_ms = now_ms

    def pick(self, answers: list[Timed]) -> Answer:
        """The newest answer that is not in the future, else the first."""
        now = self._now_ms()
        return next((answer for at, answer in reversed(answers) if at <= now), answers[0][1])


@dataclasses.dataclass(frozen=True, slots=True)
class DiscoveryOfThen:
    """Implements `Discovery`: the kinds of a world, and those that servers behind it served when it was recorded."""

    world: Discovery
    recorded: Answers

    def version(self) -> str:
        """That of the world."""
        return self.world.version()

    def find(self, api_version: str, kind: str) -> Kind | None:
        """The kind in the world, else as it was recorded."""
        if found := self.world.find(api_version, kind):
            return found
        try:
            answer: Kind | None = self.recorded.ask(Discovery, "find", (api_version, kind), {})
        except NotRecorded:
            return None
        return answer


class _Replayed:
    """A port whose methods all answer from the recording."""

    def __init__(self, answers: Answers, port: type) -> None:
        self._answers = answers
        self._port = port

    def __getattr__(self, method: str) -> Callable[..., Any]:
        if not hasattr(self._port, method):
            raise AttributeError(f"{self._port.__name__} has no {method}")
        if found := AT_ONCE.get((self._port.__name__, method)):
            single, call = found
            return lambda asked: tuple(self._answers.ask(self._port, single, *call(one)) for one in asked)
        return lambda *args, **kwargs: self._answers.ask(self._port, method, args, kwargs)


def decode(value: Any, hint: Any, name: str) -> Any:
    """A recorded value as the type that the port declares; `name` is the recorded dataclass of a union."""
    members = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    if value is None:
        return None
    if name:
        desired = [member for member in members if getattr(member, "__name__", "") == name]
        return msgspec.convert(value, desired[0]) if desired else value
    plain = [member for member in members if not dataclasses.is_dataclass(member)]
    value = _with_present_fields(value, hint)
    return msgspec.convert(value, Union[tuple(plain or members)])  # noqa: UP007  # why: built at run time


def _with_present_fields(value: Any, hint: Any) -> Any:
    """A list of values whose fields an earlier build called otherwise, as the hint calls them."""
    former = {old: now for kind in get_args(hint) for old, now in FIELDS.get(getattr(kind, "__name__", ""), {}).items()}
    if not former or not isinstance(value, list):
        return value
    return [{former.get(key, key): each for key, each in one.items()} for one in value]


def _key_of_arguments(port: type, method: str, args: Any, kwargs: Any) -> bytes:
    """The arguments by name, without defaults, so that equal questions have equal keys."""
    parameters = _parameters(port, method)
    arguments = dict(zip(parameters, args or (), strict=False)) | (kwargs or {})
    arguments = {
        key: value for key, value in arguments.items() if value != parameters.get(key, inspect.Parameter.empty)
    }
    return msgspec.json.encode(arguments, order="sorted")


@cache
def _returned(port: type, method: str) -> Any:
    return get_type_hints(getattr(port, method))["return"]


@cache
def _parameters(port: type, method: str) -> dict[str, Any]:
    return {
        parameter.name: parameter.default
        for parameter in list(inspect.signature(getattr(port, method)).parameters.values())[1:]
    }


def _error(name: str, message: str, detail: str = "") -> Exception:
    """The recorded exception of the port, by name, so that the step ends in the same way."""
    if name == RetryLater.__name__:
        return RetryLater(message, timedelta(seconds=float(detail)))
    if name == Terminal.__name__:
        return Terminal(detail, message)
    error: Exception = type(name, (Exception,), {})(message)
    return error
