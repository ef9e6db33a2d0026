"""What is wrong with a value, in the words of the API server."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from shared.domain.crd_safety.canonical import raw
from shared.domain.go.float import plain_text
from shared.domain.go.text import quoted

Value: TypeAlias = Any  # why: any JSON value


class Defect(NamedTuple):
    """One thing that is wrong: where, in words, and what is there."""

    path: str
    """Such as `spec.list[0].name`; empty when it is about the whole object."""
    text: str
    value: Value = None

    def __str__(self) -> str:
        return f"[]{'.' * bool(self.path)}{self.path}: {self.text}"


class SchemaResult:
    """What a schema says of a value: its defects, and how much of it fits."""

    __slots__ = ("defects", "matches")

    def __init__(self, *defects: Defect, matches: int = 0) -> None:
        self.defects = list(defects)
        self.matches = matches

    @property
    def is_valid(self) -> bool:
        """Whether nothing is wrong."""
        return not self.defects

    def note(self, *defects: Defect) -> None:
        """Add what is wrong; each defect counts once."""
        if defects:
            self.defects += (one for one in defects if one not in self.defects)

    def add(self, *others: SchemaResult) -> None:
        """Take over what others say."""
        for other in others:
            if other.defects:
                self.note(*other.defects)
            self.matches += other.matches


def invalid(path: str, why: str, value: Value = "") -> Defect:
    """A value that its schema refuses."""
    return Defect(path.removeprefix("."), f"Invalid value: {shown(value)}: {why}", value)


def wrong_type(path: str, desired: str, found: str) -> Defect:
    """A value of another type, or of another format."""
    return invalid(path, f"{path} in body must be of type {desired}: {quoted(found)}", found)


def composite(path: str, why: str) -> Defect:
    """A rule about several schemas; the API server does not say where."""
    return invalid("", f"{quoted(path)} {why}")


def missing(path: str) -> Defect:
    """A field that has to be there."""
    return Defect(path.removeprefix("."), "Required value")


def too_many(path: str, count: int, most: int) -> Defect:
    """A list or an object with too much in it."""
    return Defect(path.removeprefix("."), f"Too many: {count}: must have at most {_count(most, 'item')}", count)


def too_long(path: str, value: str, most: int) -> Defect:
    """A text with too many characters."""
    return Defect(path.removeprefix("."), f"Too long: may not be more than {_count(most, 'byte')}", value)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def unsupported(path: str, value: Value, allowed: list[Value]) -> Defect:
    """A value that is not one of those that may be."""
    listed = ", ".join(quoted(one if isinstance(one, str) else raw(one) or "null") for one in allowed)
    return Defect(path.removeprefix("."), f"Unsupported value: {shown(value)}: supported values: {listed}", value)


def shown(value: Value) -> str:
    """A value as Go prints it in such a sentence."""
    match value:
        case str():
            return quoted(value)
        case bool():
            return raw(value)
        case None:
            return "null"
        case int() | float():
            return number(value)
    return raw(value)


def number(value: float) -> str:
    """A number as Go prints it: whole ones in full."""
    return str(value) if isinstance(value, int) else plain_text(value)
