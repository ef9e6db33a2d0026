"""Why a version cannot be had: each component gets one solver, which is asked about all of its versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from shared.domain.resolver.conflict import within
from shared.domain.resolver.constraints import Constraint, Id, Mandatory
from shared.domain.resolver.decide import components
from shared.domain.resolver.operators import Operator
from shared.domain.resolver.reasons import Code
from shared.domain.resolver.sat import Sat
from shared.domain.resolver.solver_input import SolverInput


@dataclass(frozen=True, slots=True)
class _Component:
    """The constraints of a component and a demand for each of its operators, all of them in one solver."""

    solver: Sat
    constraints: tuple[Constraint, ...]
    demands: Mapping[Operator, Mandatory]


@dataclass(frozen=True, slots=True)
class Demands:
    """Demands for versions, in addition to the constraints of the solver."""

    solver_input: SolverInput
    _components: dict[Operator, _Component] = field(default_factory=dict)
    _solvers: list[Sat] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for solver in self._solvers:
            solver.close()

    def contradiction(self, desired: Operator, kept: Iterable[Operator]) -> tuple[Constraint, ...]:
        """Why a version cannot be chosen in addition to those that are kept; empty when it can. GaveUp."""
        if desired not in self._components:
            self._load(desired)
        component = self._components[desired]
        demands = (component.demands[one] for one in (desired, *kept) if one in component.demands)
        constraints = (*component.constraints, *demands)
        is_possible = component.solver.is_possible(texts=[one.text for one in constraints])
        return () if is_possible else within(component.solver, constraints)

    def _load(self, desired: Operator) -> None:
        """Open a solver for the component of an operator: an empty one where another has its id (namespace mode)."""
        known, groups = self.solver_input.operators, components(self.solver_input.variables)
        group = next((each for each in groups if any(known.get(one.id) is desired for one in each)), [])
        demands = {known[one.id]: _demand(one.id, known[one.id]) for one in group if one.id in known}
        constraints = tuple(each for one in group for each in one.constraints)
        solver = Sat((*constraints, *demands.values()), selectable=True)
        self._solvers.append(solver)
        self._components.update(dict.fromkeys((desired, *demands), _Component(solver, constraints, demands)))


def _demand(subject: Id, one: Operator) -> Mandatory:
    return Mandatory(subject, f"{subject} of package {one.package} is wanted", Code.DEMANDED)
