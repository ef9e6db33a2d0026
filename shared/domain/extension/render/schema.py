"""The part of JSON Schema that configurations are checked by, and the verdicts as a tree of failures (v1.md §17)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final, Literal, TypeAlias

from shared.domain.go.text import quoted

Schema: TypeAlias = Mapping[str, Any]
"""A schema as JSON; `$ref` names a schema of `definitions_of`."""
Reason: TypeAlias = Literal[
    "Null",
    "Type",
    "Format",
    "Required",
    "Additional",
    "MinLength",
    "MaxLength",
    "Pattern",
    "AnyOf",
    "Other",
    "Group",
    "Reference",
]
_DATE_TIME: Final = "date-time"
_SHORTEST_TIME: Final = 20
_TIME_OF_DAY: Final = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?(?:[zZ]|([+-])([0-9]{2}):([0-9]{2}))")


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that a value is not."""

    reason: Reason
    place: tuple[str, ...]
    message: str
    """In the words of the library that OLM v1 asks."""
    field: str = ""
    """The name of what is missing or not known."""
    limit: str = ""
    """What was wanted, e.g. the pattern."""
    causes: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks values by schemas."""

    definitions: Callable[[str], Schema]
    formats: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    """Says what is wrong with a text; empty when nothing is."""

    def failures(self, value: Any, schema: Schema, place: tuple[str, ...] = ()) -> tuple[Failure, ...]:
        """What is wrong with a value; of a group alone its members."""
        found = self._failures(value, schema, place)
        return found[0].causes if len(found) == 1 and found[0].reason == "Group" else found

    def _failures(self, value: Any, schema: Schema, place: tuple[str, ...]) -> tuple[Failure, ...]:
        wrong = self._first(value, schema, place)
        if wrong is not None:
            return (wrong,)
        if "$ref" in schema:
            causes = self.failures(value, self.definitions(schema["$ref"]), place)
            return (Failure("Reference", place, _GROUP, causes=causes),) if causes else ()
        return (*self._inside(value, schema, place), *self._alternatives(value, schema, place))

    def _grouped(self, value: Any, schema: Schema, place: tuple[str, ...]) -> Iterator[Failure]:
        """What is wrong with a value as one failure."""
        found = self._failures(value, schema, place)
        if len(found) > 1:
            yield Failure("Group", place, _GROUP, causes=found)
        else:
            yield from found

    def _first(self, value: Any, schema: Schema, place: tuple[str, ...]) -> Failure | None:
        desired = schema.get("type")
        if desired and not _is_of(value, desired):
            return Failure("Null" if value is None else "Type", place, f"got {_type_of(value)}, want {desired}")
        name = schema.get("format", "")
        check = time_problem if name == _DATE_TIME else self.formats.get(name)
        problem = check(value) if check and isinstance(value, str) else ""
        if problem:
            return Failure("Format", place, f"{_quote(value)} is not valid {name}: {problem}")
        return None

    def _inside(self, value: Any, schema: Schema, place: tuple[str, ...]) -> Iterator[Failure]:
        if isinstance(value, dict):
            yield from self._object(value, schema, place)
        elif isinstance(value, list) and "items" in schema:
            for number, item in enumerate(value):
                yield from self._grouped(item, schema["items"], (*place, str(number)))
        elif isinstance(value, str):
            yield from _text(value, schema, place)

    def _object(self, value: Mapping[str, Any], schema: Schema, place: tuple[str, ...]) -> Iterator[Failure]:
        missing = [name for name in schema.get("required", ()) if name not in value]
        if missing:
            yield Failure("Required", place, "", missing[0])
        properties, additional = schema.get("properties", {}), schema.get("additionalProperties", True)
        for key in sorted(value):
            if key in properties:
                yield from self._grouped(value[key], properties[key], (*place, key))
            elif isinstance(additional, Mapping):
                yield from self._grouped(value[key], additional, (*place, key))
        if additional is False:
            # The reference tells one of them, at random.
            for key in sorted(value.keys() - properties.keys()):
                yield Failure("Additional", place, "", key)

    def _alternatives(self, value: Any, schema: Schema, place: tuple[str, ...]) -> Iterator[Failure]:
        for one in schema.get("allOf", ()):
            if causes := tuple(self._grouped(value, one, place)):
                yield Failure("Other", place, "'allOf' failed", causes=causes)
        for name, reason, message in _CHOICES:
            if name in schema:
                found = [tuple(self._grouped(value, one, place)) for one in schema[name]]
                if all(found):
                    yield Failure(reason, place, message, causes=tuple(cause for causes in found for cause in causes))


_GROUP: Final = "validation failed"


_CHOICES: Final[tuple[tuple[str, Reason, str], ...]] = (
    ("anyOf", "AnyOf", "'anyOf' failed"), ("oneOf", "Other", "'oneOf' failed, none matched"),
)  # fmt: skip


def _text(value: str, schema: Schema, place: tuple[str, ...]) -> Iterator[Failure]:
    length = len(value)
    if length < schema.get("minLength", 0):
        yield Failure("MinLength", place, str(length), limit=str(schema["minLength"]))
    if length > schema.get("maxLength", length):
        yield Failure("MaxLength", place, str(length), limit=str(schema["maxLength"]))
    pattern = schema.get("pattern")
    if pattern and not re.fullmatch(pattern, value):
        yield Failure("Pattern", place, "", limit=pattern)


def _type_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
    return "object"


def _is_of(value: object, desired: str) -> bool:
    if desired == "integer":
        return isinstance(value, int | float) and not isinstance(value, bool) and float(value).is_integer()
    return _type_of(value) == desired


def _quote(text: str) -> str:
    escaped = quoted(text)[1:-1].replace('\\"', '"').replace("'", "\\'")
    return f"'{escaped}'"


def time_problem(text: str) -> str:
    """What is wrong with a `date-time`; empty when nothing is."""
    if len(text.encode()) < _SHORTEST_TIME:
        return f"less than {_SHORTEST_TIME} characters long"
    if text[10] not in "tT":
        return "11th character must be t or T"
    try:
        date.fromisoformat(text[:10])
    except ValueError:
        return f'invalid date element: parsing time "{text[:10]}" as "2006-01-02"'
    match = _TIME_OF_DAY.fullmatch(text[11:])
    if match is None:
        return "invalid time element: missing colon in correct place"
    hour, minute, second = (int(match[number]) for number in (1, 2, 3))
    is_leap = second > 59 and (hour, minute) != (23, 59)
    if hour > 23 or minute > 59 or second > 60 or is_leap:
        return "invalid time element: hour/min/sec out of range"
    return ""
