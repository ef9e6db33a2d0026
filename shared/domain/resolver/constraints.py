"""What the solver works on: variables with constraints; each constraint has OLM's text for it (resolver.md §7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


class Id(NamedTuple):
    """Names a variable: `text` is OLM's identifier, `home` distinguishes variables for which OLM's text is the same."""

    text: str
    home: str = ""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Mandatory:
    """The subject is in every answer; OLM calls it an anchor."""

    subject: Id
    text: str


@dataclass(frozen=True, slots=True)
class Prohibited:
    """The subject is in no answer."""

    subject: Id
    text: str


@dataclass(frozen=True, slots=True)
class Dependency:
    """If the subject is chosen, one of the options is chosen too; earlier options are preferred."""

    subject: Id
    options: tuple[Id, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Subject and other are not chosen together."""

    subject: Id
    other: Id

    @property
    def text(self) -> str:
        """OLM's message."""
        return f"{self.subject} conflicts with {self.other}"


@dataclass(frozen=True, slots=True)
class AtMostOne:
    """At most one of the ids is in an answer; an id that is listed twice is in none."""

    subject: Id
    ids: tuple[Id, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Excluded:
    """None of the others is chosen, because an annotation of the subject, a Subscription, excludes them."""

    subject: Id
    others: tuple[Id, ...]
    text: str
    annotation: str
    """The name of that annotation."""


Constraint: TypeAlias = Mandatory | Prohibited | Dependency | Conflict | AtMostOne | Excluded


@dataclass(frozen=True, slots=True)
class Variable:
    """A Subscription, operator or invariant that is in an answer or not, with its constraints."""

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
