"""The SAT solver behind the resolver; the only module that knows its library.

Only its "yes" and "no" are used, never its model: so heuristics of the solver cannot change a result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self, assert_never

from shared.domain.resolver.constraints import (
    AtMostOne,
    Conflict,
    Constraint,
    Dependency,
    Excluded,
    Id,
    Mandatory,
    Prohibited,
)

MAX_CONFLICTS = 20_000
"""Conflicts after which one call is given up."""
_FEW = 6
"""Up to so many ids exclude each other pairwise, or are options in each dependency; more need new variables."""

Clause = list[int]


class GaveUp(Exception):
    """The solver reached its limit of conflicts without a solution."""


class Sat:
    """Constraints, loaded once for many calls. With `selectable` a call names the texts that apply."""

    def __init__(
        self, constraints: Iterable[Constraint], *, selectable: bool = False, max_conflicts: int = MAX_CONFLICTS
    ) -> None:
        from pysat.solvers import Glucose4  # native code: loaded only when first choices conflict

        self._numbers: dict[Id, int] = {}
        self._selectors: dict[str, int] = {}
        self._any: dict[int, tuple[int, tuple[Id, ...]]] = {}
        self._single: dict[tuple[Id, ...], int] = {}
        self._next = 0
        self._max_conflicts = max_conflicts
        self._solver: Any = Glucose4()
        self._model: set[int] = set()
        for one in constraints:
            guard = [-self._selector(one.text)] if selectable else []
            for clause in self._clauses(one, anchored=selectable):
                self._solver.add_clause([*guard, *clause])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Free the memory of the solver."""
        self._solver.delete()

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that `is_possible` can name."""
        return tuple(self._selectors)

    def is_possible(self, ids: Iterable[Id] = (), texts: Iterable[str] = ()) -> bool:
        """Whether all ids can be chosen together under the constraints with these texts. GaveUp."""
        desired = [*map(self._number, ids), *(self._selectors[text] for text in texts)]
        self._solver.conf_budget(self._max_conflicts)
        is_satisfiable = self._solver.solve_limited(assumptions=desired)
        if is_satisfiable is None:
            raise GaveUp(f"gave up because {self._max_conflicts} attempts did not show whether a solution exists")
        if is_satisfiable:
            self._model = {number for number in self._solver.get_model() if number > 0}
        return bool(is_satisfiable)

    def first_possible(self, options: Sequence[Id], chosen: Sequence[Id]) -> Id | None:
        """The first option that can be chosen in addition to the chosen ids; None when no option can. GaveUp."""
        together = ((option, (*chosen, option)) for option in options)
        return next((option for option, ids in together if self._is_witnessed(ids) or self.is_possible(ids)), None)

    def _is_witnessed(self, ids: Iterable[Id]) -> bool:
        """Whether the last model contains all ids, which makes a solver call unnecessary."""
        return all(self._number(one) in self._model for one in ids)

    def _number(self, one: Id) -> int:
        return self._numbers.get(one) or self._numbers.setdefault(one, self._fresh())

    def _selector(self, text: str) -> int:
        return self._selectors.get(text) or self._selectors.setdefault(text, self._fresh())

    def _fresh(self) -> int:
        self._next += 1
        return self._next

    def _clauses(self, constraint: Constraint, *, anchored: bool) -> Iterator[Clause]:
        number = self._number
        match constraint:
            case Mandatory(subject, _):
                if anchored:
                    yield [number(subject)]
            case Prohibited(subject, _):
                yield [-number(subject)]
            case Dependency(subject, options, _):
                yield [-number(subject), *self._one_of(options)]
            case Conflict(subject, other):
                yield [-number(subject), -number(other)]
            case AtMostOne(_, ids, _):
                yield self._single_of(ids)
            case Excluded(subject, others):
                yield from ([-number(subject), -number(other)] for other in others)
            case never:
                assert_never(never)

    def _one_of(self, options: tuple[Id, ...]) -> Clause:
        """One of the options is chosen. Dependencies that share a tuple of many share a variable that stands for it."""
        if len(options) <= _FEW:
            return list(map(self._number, options))
        if id(options) not in self._any:
            helper = self._fresh()
            self._solver.add_clause([-helper, *map(self._number, options)])
            self._any[id(options)] = helper, options  # why: the tuple is kept, so that its id() is not given away
        return [self._any[id(options)][0]]

    def _single_of(self, ids: tuple[Id, ...]) -> Clause:
        """At most one of the ids is chosen: a variable stands for it, which all that versions provide alike share."""
        if ids not in self._single:
            self._single[ids] = helper = self._fresh()
            for clause in self._at_most_one(list(map(self._number, ids))):
                self._solver.add_clause([-helper, *clause])
        return [self._single[ids]]

    def _at_most_one(self, numbers: Clause) -> Iterator[Clause]:
        if len(numbers) <= _FEW:
            yield from ([-one, -other] for index, one in enumerate(numbers) for other in numbers[index + 1 :])
            return
        before = self._fresh()  # true when an earlier one is chosen
        yield [-numbers[0], before]
        for number in numbers[1:]:
            yield [-before, -number]
            after = self._fresh()
            yield from ([-before, after], [-number, after])
            before = after
