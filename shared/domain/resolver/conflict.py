"""Why there is no solution: a minimal set of contradicting constraints, the same in every run (§14.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from shared.domain.resolver.constraints import Constraint, Variable
from shared.domain.resolver.sat import Sat


def conflict(variables: Sequence[Variable]) -> tuple[Constraint, ...]:
    """A minimal contradiction, sorted by text: without any one of its constraints there is a solution. GaveUp."""
    constraints = [one for variable in variables for one in variable.constraints]
    with Sat(constraints, selectable=True) as sat:
        return within(sat, constraints)


def within(sat: Sat, constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
    """The same for constraints of which the solver has all, and maybe more, which do not contradict on their own."""
    found = {one.text: one for one in constraints}
    kept = _preferred([], sorted(found), lambda texts: not sat.is_possible(texts=texts), is_new=False)
    return tuple(found[text] for text in sorted(kept))


def _preferred(
    base: list[str], texts: list[str], is_contradiction: Callable[[list[str]], bool], *, is_new: bool
) -> list[str]:
    """QuickXplain (Junker 2004): the result of deleting texts one by one from the end, with fewer solver calls."""
    if is_new and is_contradiction(base):
        return []
    if len(texts) == 1:
        return texts
    middle = len(texts) // 2
    first, second = texts[:middle], texts[middle:]
    late = _preferred([*base, *first], second, is_contradiction, is_new=bool(first))
    early = _preferred([*base, *late], first, is_contradiction, is_new=bool(late))
    return [*early, *late]
