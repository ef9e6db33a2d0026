"""Explains refusals: their facts, and the fixes with which resolving again leads to an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from shared.domain.resolver.adoption import adopted
from shared.domain.resolver.candidates import AmbiguousInstallation
from shared.domain.resolver.constraints import AtMostOne, Constraint, Dependency, others
from shared.domain.resolver.decide import untold
from shared.domain.resolver.explain.facts import Translator, ranks_in
from shared.domain.resolver.explain.findings import Finding, Fix
from shared.domain.resolver.explain.proposals import (
    Proposal,
    to_installed,
    to_namespace,
    to_subscriptions,
    without_subscriptions,
)
from shared.domain.resolver.explain.supply import added_catalogs, installed_first, loosened_pins, needs_in
from shared.domain.resolver.identity import Installed
from shared.domain.resolver.market import Market
from shared.domain.resolver.model import Inputs, Refusal, Resolution
from shared.domain.resolver.problem import Problem, pose
from shared.domain.resolver.resolve import market_of, resolve, set_aside
from shared.domain.resolver.shelves import MemoShelf

MAX_TRIALS: Final = 40
"""Proposals that are tried for one refusal."""
MAX_FIXES: Final = 5


def explain(inputs: Inputs, resolution: Resolution | None = None) -> tuple[Finding, ...]:
    """A finding for each refusal: why its Subscriptions get nothing, and what would help. Empty without refusals."""
    inputs = remembered(inputs)
    found = resolve(inputs) if resolution is None else resolution
    alike: dict[str, tuple[Refusal, list[str]]] = {}
    for one in found.components:
        if one.refusal is not None:
            alike.setdefault(one.refusal.message, (one.refusal, []))[1].extend(one.subscribers)
    if not alike:
        return ()
    seen = posed(inputs)
    translator = Translator(inputs, seen.problem)
    return tuple(
        _finding(refusal, sorted(names), translator, market=seen.market, refused=found.refused)
        for refusal, names in alike.values()
    )


def remembered(inputs: Inputs) -> Inputs:
    """The same inputs, with catalogs that answer each question only once: for resolving many times."""
    return replace(inputs, shelves={key: MemoShelf(shelf) for key, shelf in inputs.shelves.items()})


@dataclass(frozen=True, slots=True)
class Posed:
    """The problem of a namespace as `resolve` sees it."""

    inputs: Inputs
    """The inputs after adoption."""
    market: Market
    problem: Problem
    """Without variables when a Subscription has several installed versions."""


def posed(inputs: Inputs) -> Posed:
    """The problem that `resolve` solves."""
    seen = inputs if inputs.is_whole else adopted(inputs)[0]
    market = market_of(seen)
    asking = [one for one in seen.subscribers if not set_aside(one, seen)]
    try:
        return Posed(seen, market, pose(market, asking))
    except AmbiguousInstallation:
        return Posed(seen, market, Problem((), {}, {}))


def _finding(
    refusal: Refusal, names: Sequence[str], translator: Translator, *, market: Market, refused: Set[str]
) -> Finding:
    proposals = _proposals(translator, refusal.facts, market, names)
    fixes = islice(_working(proposals, names, refused), MAX_FIXES)
    return Finding(tuple(names), refusal.reason, translator.facts(refusal), tuple(fixes), refusal.advice)


def _proposals(
    translator: Translator, facts: Sequence[Constraint], market: Market, names: Sequence[str]
) -> Iterator[Proposal]:
    """The proposals, cheapest first."""
    inputs = translator.inputs
    involved = [one for each in facts if (one := translator.subscribers.get(each.subject))]
    asking = list({one.name: one for one in involved}.values())
    asking = asking or [one for one in inputs.subscribers if one.name in names]
    ranks = ranks_in(facts)
    wishes = [one for one in facts if isinstance(one, Dependency)]
    needs = list(needs_in(sorted(wishes, key=lambda one: ranks.get(one.subject, 0)), translator))
    yield from to_subscriptions(asking, inputs)
    yield from to_installed(_unclaimed(facts, translator), inputs)
    yield from installed_first(needs, market, inputs)
    yield from without_subscriptions(asking, inputs)
    yield from added_catalogs(needs, market, inputs)
    yield from loosened_pins(needs, inputs)
    yield from to_namespace(inputs)


def _unclaimed(facts: Sequence[Constraint], translator: Translator) -> list[Installed]:
    told = [each for each in facts if not isinstance(each, Dependency | AtMostOne)]
    named = {translator.operators.get(one) for each in told for one in (each.subject, *others(each))}
    names = {one.name for one in named if one and one.is_installed and not one.owner}
    return [one for one in translator.inputs.installed if one.name in names]


def _working(proposals: Iterator[Proposal], names: Sequence[str], refused: Set[str]) -> Iterator[Fix]:
    seen = set()
    for fix, changed in islice(proposals, MAX_TRIALS):
        if fix.do not in seen and _is_answered(resolve(changed, why=untold), names, refused, changed):
            seen.add(fix.do)
            yield fix


def _is_answered(after: Resolution, names: Sequence[str], refused: Set[str], changed: Inputs) -> bool:
    """Whether the given Subscriptions are no longer refused, and no other Subscription is newly refused."""
    return bool(changed.subscribers) and after.refused.isdisjoint(names) and after.refused <= refused
