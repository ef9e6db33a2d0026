"""The solutions: one for each connected component, or one for the whole namespace as in OLM."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from shared.domain.catalog.model import Bundle
from shared.domain.resolver.candidate_cache import CandidateCache
from shared.domain.resolver.conflict import conflict
from shared.domain.resolver.constraints import Constraint, Id, Variable, links
from shared.domain.resolver.disjoint import Disjoint
from shared.domain.resolver.model import Refusal, prevented, unsatisfiable
from shared.domain.resolver.operators import Operator
from shared.domain.resolver.problem import Problem, namesakes
from shared.domain.resolver.reasons import Code, Reason, together
from shared.domain.resolver.sat import GaveUp
from shared.domain.resolver.solver import IllPosed, Unsatisfiable, solve


@dataclass(frozen=True, slots=True)
class NewOperator:
    """An operator that is newly chosen."""

    operator: Operator
    bundle: Bundle
    replaces: str
    """The installed version that it replaces, else its `replaces` in the channel."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The result for variables that are connected by constraints."""

    variables: tuple[Variable, ...]
    new_operators: tuple[NewOperator, ...] = ()
    """In the order of choice."""
    refusal: Refusal | None = None
    """None when there is an answer."""


Why = Callable[[Sequence[Variable]], tuple[Constraint, ...]]
"""Finds a minimal contradiction."""


def without_explanation(_: Sequence[Variable]) -> tuple[Constraint, ...]:
    """Looks for no contradiction: for callers that only need to know whether there is an answer."""
    return ()


def as_one(problem: Problem, cache: CandidateCache, why: Why = conflict) -> Solution:
    """OLM's verdict for the namespace: every Subscription is satisfied, or none is."""
    solution = _solution(problem.variables, problem, why)
    error = together(filter(None, (_lost(take.operator, cache) for take in solution.new_operators)))
    return Solution(problem.variables, refusal=prevented(error)) if error else solution


def apart(problem: Problem, why: Why = conflict) -> tuple[Solution, ...]:
    """A solution for each component, i.e. for Subscriptions and CSVs that share a package, an API or a dependency."""
    return tuple(_solution(variables, problem, why) for variables in components(problem.variables))


def _solution(variables: Sequence[Variable], problem: Problem, why: Why) -> Solution:
    variables = tuple(variables)
    try:
        try:
            return Solution(variables, tuple(_new_operators(solve(variables), problem)))
        except Unsatisfiable:
            return Solution(variables, refusal=unsatisfiable(why(variables)))
    except GaveUp as error:
        return Solution(variables, refusal=prevented(Reason(Code.GAVE_UP, str(error))))
    except IllPosed as error:
        return Solution(variables, refusal=prevented(Reason(Code.PREVENTED, str(error))))


def _new_operators(chosen: Iterable[Id], problem: Problem) -> Iterator[NewOperator]:
    for one in chosen:
        operator = problem.operators.get(one)
        if operator is not None and operator.bundle is not None:
            yield NewOperator(operator, operator.bundle, problem.replaced.get(one, operator.replaces))


def _lost(one: Operator, cache: CandidateCache) -> Reason | None:
    """OLM's error when an operator cannot be found by its id (resolver.md §9.2, §13 B10); else None."""
    if "/" in one.channel:
        text = f"error determining origin of operator: unable to parse identifier {one.id} for source info"
        return Reason(Code.CHANNEL_NAME, text)
    found = len(namesakes(one, cache))
    return None if found == 1 else Reason(Code.AMBIGUOUS_NAME, f"expected exactly one operator, got {found}")


def components(variables: Sequence[Variable]) -> Iterator[list[Variable]]:
    """Groups of variables that constraints connect, in the given order; groups without an anchor are left out."""
    joined = Disjoint[Id]()
    for subject, ids in links(variables):
        joined.join(subject, ids)
    groups: dict[Id, list[Variable]] = {}
    for variable in variables:
        groups.setdefault(joined.root(variable.id), []).append(variable)
    return (group for group in groups.values() if any(one.is_anchor for one in group))
