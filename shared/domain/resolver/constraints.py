"""What the solver works on: variables with constraints; each constraint has OLM's text for it (resolver.md §7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from shared.domain.resolver.reasons import Code

if TYPE_CHECKING:
    from shared.domain.resolver.predicates import Predicate


class Id(NamedTuple):
    """Names a variable: `text` is OLM's identifier, `scope` tells apart variables with the same text."""

    text: str
    scope: str = ""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Mandatory:
    """The subject is in every solution; OLM calls it an anchor."""

    subject: Id
    text: str
    code: Code


@dataclass(frozen=True, slots=True)
class Prohibited:
    """The subject is in no solution."""

    subject: Id
    text: str
    code: Code
    detail: str = ""
    """What is wrong with it, where the code does not say it."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """If the subject is chosen, one of the options is chosen too; earlier options are preferred."""

    subject: Id
    options: tuple[Id, ...]
    text: str
    code: Code
    requirement: Predicate | None = field(default=None, compare=False)
    """What its operator requires; None for a Subscription."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Subject and other are not chosen together."""

    subject: Id
    other: Id

    @property
    def text(self) -> str:
        """OLM's message."""
        return f"{self.subject} conflicts with {self.other}"

    @property
    def code(self) -> Code:
        """What it says."""
        return Code.REPLACES


@dataclass(frozen=True, slots=True)
class AtMostOne:
    """At most one of the ids is in a solution; an id that is listed twice is in none."""

    subject: Id
    ids: tuple[Id, ...]
    text: str
    code: Code


@dataclass(frozen=True, slots=True)
class Excluded:
    """None of the others is chosen, because an annotation of the subject, a Subscription, excludes them."""

    subject: Id
    others: tuple[Id, ...]
    text: str
    code: Code


Constraint: TypeAlias = Mandatory | Prohibited | Dependency | Conflict | AtMostOne | Excluded


@dataclass(frozen=True, slots=True)
class Variable:
    """A Subscription, operator or invariant that is in a solution or not, with its constraints."""

    id: Id
    constraints: tuple[Constraint, ...] = ()
    is_anchor: bool = field(init=False)
    """Whether every solution has it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_anchor", Mandatory in map(type, self.constraints))


def of_subscription(name: str) -> Id:
    """The id of the variable that stands for a Subscription."""
    return Id(f"subscription:{name}")


def others(constraint: Constraint) -> tuple[Id, ...]:
    """Every variable beside the subject that the constraint is about."""
    match constraint:
        case Dependency(_, ids) | AtMostOne(_, ids) | Excluded(_, ids):
            return ids
        case Conflict(_, other):
            return (other,)
    return ()


def links(variables: Iterable[Variable]) -> Iterator[tuple[Id, tuple[Id, ...]]]:
    """The subject of each constraint, with the others; of options that dependencies share all the first time only.

    In a crowded namespace, hundreds of dependencies share one tuple with hundreds of options.
    """
    seen: set[int] = set()
    for variable in variables:
        for constraint in variable.constraints:
            ids = others(constraint)
            yield constraint.subject, ids[:1] if id(ids) in seen else ids
            if isinstance(constraint, Dependency):
                seen.add(id(ids))
