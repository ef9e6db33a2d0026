"""What the solver works on: variables with constraints, each of which can be read aloud (resolver.md §7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


class Id(NamedTuple):
    """Names a variable. Its text is OLM's; `home` tells apart what OLM's text does not."""

    text: str
    home: str = ""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Mandatory:
    """The subject is in every answer: an anchor."""

    subject: Id
    text: str


@dataclass(frozen=True, slots=True)
class Prohibited:
    """The subject is in no answer."""

    subject: Id
    text: str


@dataclass(frozen=True, slots=True)
class Dependency:
    """With the subject comes one of the options; earlier ones are preferred."""

    subject: Id
    options: tuple[Id, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Not both."""

    subject: Id
    other: Id

    @property
    def text(self) -> str:
        """As OLM puts it."""
        return f"{self.subject} conflicts with {self.other}"


@dataclass(frozen=True, slots=True)
class AtMostOne:
    """At most one of the ids is in an answer; one that is listed twice is in none."""

    subject: Id
    ids: tuple[Id, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Excluded:
    """With the subject, which is in every answer, comes none of the others: it was asked so."""

    subject: Id
    others: tuple[Id, ...]
    text: str
    annotation: str
    """Where it was asked."""


Constraint: TypeAlias = Mandatory | Prohibited | Dependency | Conflict | AtMostOne | Excluded


@dataclass(frozen=True, slots=True)
class Variable:
    """Something that is in an answer or not, and what follows from that."""

    id: Id
    constraints: tuple[Constraint, ...] = ()

    @property
    def is_anchor(self) -> bool:
        """Whether every answer has it."""
        return any(isinstance(one, Mandatory) for one in self.constraints)


def mentioned(constraint: Constraint) -> tuple[Id, ...]:
    """Every variable that the constraint is about."""
    match constraint:
        case Dependency(subject, options, _):
            return (subject, *options)
        case Conflict(subject, other):
            return (subject, other)
        case AtMostOne(subject, ids, _):
            return (subject, *ids)
        case Excluded(subject, others):
            return (subject, *others)
    return (constraint.subject,)
