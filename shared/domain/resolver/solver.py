"""The preferred solution of a set of variables, or that there is none (resolver.md §8.2).

Preferences are breadth first: all anchors, then the first option of each of their dependencies, and so on. If taking
every first option satisfies all constraints, that is the solution; else a SAT solver says which options are possible.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence

from shared.domain.resolver.constraints import (
    AtMostOne,
    Conflict,
    Dependency,
    Excluded,
    Id,
    Prohibited,
    Variable,
    links,
)
from shared.domain.resolver.sat import Sat


class Unsatisfiable(Exception):
    """No solution satisfies every constraint."""


class InvalidVariables(Exception):
    """The variables are malformed; the message is OLM's. Any other error of the solver is a bug."""


def solve(variables: Sequence[Variable]) -> tuple[Id, ...]:
    """The chosen variables, in the order of choice.

    Unsatisfiable; GaveUp after `sat.MAX_CONFLICTS` conflicts of the solver; InvalidVariables when two variables have
    the same id, or a constraint mentions an id without a variable.
    """
    known = {variable.id: variable for variable in variables}
    _check(variables, known)
    walked = _walk(known, _first_choice(known))
    if _is_solution(walked, known):
        return walked
    with Sat(constraint for variable in variables for constraint in variable.constraints) as sat:
        if not sat.is_possible([one.id for one in variables if one.is_anchor]):
            raise Unsatisfiable
        return _walk(known, sat.first_possible)


Pick = Callable[[Sequence[Id], Sequence[Id]], Id | None]
"""Of the options (first argument) the first that is possible with the chosen ids (second), or None."""


def _walk(known: Mapping[Id, Variable], pick: Pick) -> tuple[Id, ...]:
    """Follow dependencies from the anchors; one that a chosen variable satisfies already needs no choice."""
    chosen: dict[Id, None] = {}
    queue = deque([variable.id] for variable in known.values() if variable.is_anchor)
    while queue:
        options = queue.popleft()
        if any(option in chosen for option in options):
            continue
        option = pick(options, tuple(chosen))
        if option is None:
            return ()
        chosen[option] = None
        dependencies = (one for one in known[option].constraints if isinstance(one, Dependency))
        queue.extend(list(one.options) for one in dependencies if one.options)
    return tuple(chosen)


def _first_choice(known: Mapping[Id, Variable]) -> Pick:
    """Picks the first option that is not prohibited; `_is_answer` checks the result against all constraints."""
    constraints = [one for variable in known.values() for one in variable.constraints]
    banned = {one.subject for one in constraints if isinstance(one, Prohibited)}
    banned |= {other for one in constraints if isinstance(one, Excluded) for other in one.others}

    def pick(options: Sequence[Id], _: Sequence[Id]) -> Id | None:
        return next((option for option in options if option not in banned), None)

    return pick


def _is_solution(chosen: Iterable[Id], known: Mapping[Id, Variable]) -> bool:
    """Whether the chosen variables satisfy every constraint and include every anchor."""
    taken = set(chosen)
    anchors = all(variable.id in taken for variable in known.values() if variable.is_anchor)
    constraints = (one for variable in known.values() for one in variable.constraints)
    return anchors and not any(_is_broken(one, taken) for one in constraints)


def _is_broken(constraint: object, taken: set[Id]) -> bool:
    match constraint:
        case Prohibited(subject, _):
            return subject in taken
        case Dependency(subject, options, _):
            return subject in taken and taken.isdisjoint(options)
        case Conflict(subject, other):
            return subject in taken and other in taken
        case AtMostOne(_, ids, _):
            return sum(one in taken for one in ids) > 1
        case Excluded(subject, others):
            return subject in taken and not taken.isdisjoint(others)
    return False


def _check(variables: Sequence[Variable], known: Mapping[Id, Variable]) -> None:
    seen: set[Id] = set()
    for variable in variables:
        if variable.id in seen:
            raise InvalidVariables(f'duplicate identifier "{variable.id}" in input')
        seen.add(variable.id)
    unknown = dict.fromkeys(one for subject, ids in links(variables) for one in (subject, *ids) if one not in known)
    if unknown:
        listed = ", ".join(f'variable "{one}" referenced but not provided' for one in unknown)
        raise InvalidVariables(f"{len(unknown)} errors encountered: {listed}")
