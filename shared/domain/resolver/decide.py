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
from shared.domain.resolver.reasons import Code, Reason, together
from shared.domain.resolver.sat import GaveUp
from shared.domain.resolver.solver import InvalidVariables, Unsatisfiable, solve
from shared.domain.resolver.solver_input import SolverInput, namesakes


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
    """None when there is a solution."""


Why = Callable[[Sequence[Variable]], tuple[Constraint, ...]]
"""Finds a minimal contradiction."""


def without_explanation(_: Sequence[Variable]) -> tuple[Constraint, ...]:
    """Looks for no contradiction: for callers that only need to know whether there is a solution."""
    return ()


def as_one(solver_input: SolverInput, cache: CandidateCache, why: Why = conflict) -> Solution:
    """OLM's verdict for the namespace: every Subscription is satisfied, or none is."""
    solution = _solution(solver_input.variables, solver_input, why)
    error = together(filter(None, (_lost(take.operator, cache) for take in solution.new_operators)))
    return Solution(solver_input.variables, refusal=prevented(error)) if error else solution


def apart(solver_input: SolverInput, why: Why = conflict) -> tuple[Solution, ...]:
    """A solution for each component, i.e. for Subscriptions and CSVs that share a package, an API or a dependency."""
    return tuple(_solution(variables, solver_input, why) for variables in components(solver_input.variables))


def _solution(variables: Sequence[Variable], solver_input: SolverInput, why: Why) -> Solution:
    variables = tuple(variables)
    try:
        try:
            return Solution(variables, tuple(_new_operators(solve(variables), solver_input)))
        except Unsatisfiable:
            return Solution(variables, refusal=unsatisfiable(why(variables)))
    except GaveUp as error:
        return Solution(variables, refusal=prevented(Reason(Code.GAVE_UP, str(error))))
    except InvalidVariables as error:
        return Solution(variables, refusal=prevented(Reason(Code.PREVENTED, str(error))))


def _new_operators(chosen: Iterable[Id], solver_input: SolverInput) -> Iterator[NewOperator]:
    for one in chosen:
        operator = solver_input.operators.get(one)
        if operator is not None and operator.bundle is not None:
            yield NewOperator(operator, operator.bundle, solver_input.replaced.get(one, operator.replaces))


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
