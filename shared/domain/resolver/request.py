"""A namespace before the decision: which Subscriptions are set aside, what is adopted, the constraints of the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from shared.domain.resolver.adoption import adopted
from shared.domain.resolver.candidate_cache import CandidateCache, Source
from shared.domain.resolver.candidates import Candidates
from shared.domain.resolver.catalog_readers import MemoizedCatalog
from shared.domain.resolver.model import Catalog, Chosen, Component, Inputs, Subscriber, prevented, unreadable
from shared.domain.resolver.operators import of_installed
from shared.domain.resolver.reasons import Code, Reason, together
from shared.domain.resolver.solver_input import SolverInput, build_constraints


@dataclass(frozen=True)
class ResolutionRequest:
    """What is asked of a namespace, as the resolver works on it. Each part is made when it is first needed, once."""

    asked: Inputs

    @cached_property
    def aside(self) -> Mapping[str, Component]:
        """The Subscriptions that cannot be decided, because their annotations or their catalog cannot be read."""
        known = ((one.name, _set_aside(one, self.asked)) for one in self.asked.subscribers)
        return {name: component for name, component in known if component is not None}

    @cached_property
    def _adopted(self) -> tuple[Inputs, Mapping[str, Chosen]]:
        return (self.asked, {}) if self.asked.is_whole else adopted(self.asked)

    @property
    def inputs(self) -> Inputs:
        """The inputs after adoption."""
        return self._adopted[0]

    @property
    def adoptions(self) -> Mapping[str, Chosen]:
        """For each adopting Subscription the bundle that is installed again."""
        return self._adopted[1]

    @cached_property
    def cache(self) -> CandidateCache:
        """The operators that the namespace may choose from."""
        return cache_of(self.inputs)

    @cached_property
    def solver_input(self) -> SolverInput:
        """The variables and constraints of all Subscriptions that are not set aside."""
        aside = self.aside
        return build_constraints(self.cache, [one for one in self.inputs.subscribers if one.name not in aside])

    @cached_property
    def asked_for(self) -> Mapping[str, Candidates]:
        """What each of these Subscriptions may get, by its name."""
        return {one.subscriber.name: one for one in self.solver_input.asked}


def memoized(inputs: Inputs) -> Inputs:
    """The same inputs, with catalogs that are read only once: for resolving many times."""
    return replace(inputs, readers={key: MemoizedCatalog(reader) for key, reader in inputs.readers.items()})


def cache_of(inputs: Inputs) -> CandidateCache:
    """The operators that the namespace may choose from."""
    sources = [Source(key, reader, inputs.catalogs[key].priority) for key, reader in inputs.readers.items()]
    installed = [of_installed(one, inputs.namespace) for one in sorted(inputs.installed, key=lambda one: one.name)]
    return CandidateCache(inputs.namespace, sources, installed, is_whole=inputs.is_whole, copies=inputs.copies)


def sick(inputs: Inputs) -> Iterator[Reason]:
    """The errors of catalogs that prevent every decision where any catalog may."""
    for key, catalog in sorted(inputs.catalogs.items()):
        if (not catalog.reference and catalog.problem) or (inputs.is_strict and catalog.is_stale):
            yield unreadable(key, catalog.problem)


def unread(inputs: Inputs) -> str:
    """A sentence about the first catalog that was not read yet; empty when all were."""
    return min((_not_yet(catalog) for catalog in inputs.catalogs.values() if _is_unread(catalog)), default="")


def stopped(subscriber: Subscriber, problem: Reason) -> Component:
    """The component of a Subscription that an error stops, unless it waits."""
    return _waiting(subscriber) if subscriber.waits else prevented_for((subscriber.name,), problem)


def prevented_for(names: tuple[str, ...], problem: Reason) -> Component:
    """The component of Subscriptions that an error stops."""
    return Component(names, refusal=prevented(problem), reasons=dict.fromkeys(names, problem.text))


def _not_yet(catalog: Catalog) -> str:
    return f"catalog {catalog.key} has not been read yet"


def _is_unread(catalog: Catalog) -> bool:
    return not catalog.reference and not catalog.problem


def _set_aside(subscriber: Subscriber, inputs: Inputs) -> Component | None:
    """The component of a Subscription that cannot be decided."""
    if problem := subscriber.policy.problem():
        return stopped(subscriber, Reason(Code.ANNOTATION_INVALID, problem))
    return None if inputs.is_whole else _unreadable(subscriber, inputs)


def _unreadable(subscriber: Subscriber, inputs: Inputs) -> Component | None:
    """The component of a Subscription whose catalog, or package there, cannot be read."""
    if inputs.is_strict and (why := unread(inputs)):
        return _waiting(subscriber, why)
    if inputs.is_strict and (error := together(sick(inputs))):
        return stopped(subscriber, error)
    catalog = inputs.catalogs.get(subscriber.catalog)
    if catalog is None:
        return None
    if _is_unread(catalog):
        return _waiting(subscriber, _not_yet(catalog))
    reader = inputs.readers.get(subscriber.catalog)
    problem = catalog.problem if reader is None else _problem_of(subscriber, inputs)
    return stopped(subscriber, unreadable(catalog.key, problem)) if problem else None


def _problem_of(subscriber: Subscriber, inputs: Inputs) -> str:
    reader = inputs.readers[subscriber.catalog]
    return "" if reader.package(subscriber.package) else reader.problem(subscriber.package)


def _waiting(subscriber: Subscriber, why: str = "") -> Component:
    return Component((subscriber.name,), reasons={subscriber.name: subscriber.waits or why})
