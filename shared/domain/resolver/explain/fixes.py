"""Explains refusals: their facts, and the fixes with which resolving again leads to an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from typing import Final

from shared.domain.resolver.constraints import AtMostOne, Constraint, Dependency, others
from shared.domain.resolver.explain.facts import Translator, ranks_in
from shared.domain.resolver.explain.findings import Finding, Fix
from shared.domain.resolver.explain.neighbourhoods import Neighbourhoods
from shared.domain.resolver.explain.proposals import (
    Proposal,
    for_group,
    lacks_group,
    to_installed,
    to_namespace,
    to_subscriptions,
    without_subscriptions,
)
from shared.domain.resolver.explain.supply import added_catalogs, installed_first, loosened_pins, needs_in
from shared.domain.resolver.identity import Installed
from shared.domain.resolver.model import Inputs, Refusal, Resolution
from shared.domain.resolver.request import ResolutionRequest, memoized
from shared.domain.resolver.resolve import resolution_of

MAX_TRIALS: Final = 40
"""Proposals that are tried for one refusal."""
MAX_FIXES: Final = 5


def explain(inputs: Inputs, resolution: Resolution | None = None) -> tuple[Finding, ...]:
    """A finding for each refusal: why its Subscriptions get nothing, and what would help. Empty without refusals."""
    request = ResolutionRequest(memoized(inputs))
    return findings(request, resolution_of(request) if resolution is None else resolution)


def findings(request: ResolutionRequest, resolution: Resolution) -> tuple[Finding, ...]:
    """The same for a request that was built before; its catalogs are asked again and again."""
    alike: dict[str, tuple[Refusal, list[str]]] = {}
    for one in resolution.components:
        if one.refusal is not None:
            alike.setdefault(one.refusal.message, (one.refusal, []))[1].extend(one.subscribers)
    namespace = _Namespace(Translator(request.asked, request), Neighbourhoods(request), resolution.refused)
    return tuple(namespace.finding(refusal, sorted(names)) for refusal, names in alike.values())


@dataclass(frozen=True, slots=True)
class _Namespace:
    """A namespace with refusals."""

    translator: Translator
    neighbourhoods: Neighbourhoods
    refused: Set[str]

    def finding(self, refusal: Refusal, names: Sequence[str]) -> Finding:
        """Why these Subscriptions are refused."""
        proposals = _proposals(self.translator, refusal.facts, names)
        fixes = islice(self._working(proposals, names), MAX_FIXES)
        facts = self.translator.facts(refusal)
        inputs = self.translator.inputs
        needed = for_group(inputs) if lacks_group(inputs) else None
        return Finding(tuple(names), refusal.reason, facts, tuple(fixes), refusal.default_fix, needed, refusal.is_open)

    def _working(self, proposals: Iterator[Proposal], names: Sequence[str]) -> Iterator[Fix]:
        seen = set()
        for fix, changed in islice(proposals, MAX_TRIALS):
            if fix.do not in seen and self._is_answered(changed, names):
                seen.add(fix.do)
                yield fix

    def _is_answered(self, changed: Inputs, names: Sequence[str]) -> bool:
        """Whether the given Subscriptions are no longer refused, and no other Subscription is newly refused."""
        refused = self.neighbourhoods.after(changed, names).refused
        return bool(changed.subscribers) and refused.isdisjoint(names) and refused <= self.refused


def _proposals(translator: Translator, facts: Sequence[Constraint], names: Sequence[str]) -> Iterator[Proposal]:
    """The proposals, cheapest first."""
    inputs, cache = translator.inputs, translator.request.cache
    involved = [one for each in facts if (one := translator.subscribers.get(each.subject))]
    asking = list({one.name: one for one in involved}.values())
    asking = asking or [one for one in inputs.subscribers if one.name in names]
    ranks = ranks_in(facts)
    dependencies = [one for one in facts if isinstance(one, Dependency)]
    needs = list(needs_in(sorted(dependencies, key=lambda one: ranks.get(one.subject, 0)), translator))
    yield from to_subscriptions(asking, inputs)
    yield from to_installed(_unclaimed(facts, translator), inputs)
    yield from installed_first(needs, cache, inputs)
    yield from without_subscriptions(asking, inputs)
    yield from added_catalogs(needs, cache, inputs)
    yield from loosened_pins(needs, inputs)
    yield from to_namespace(inputs)


def _unclaimed(facts: Sequence[Constraint], translator: Translator) -> list[Installed]:
    shown = [each for each in facts if not isinstance(each, Dependency | AtMostOne)]
    named = {translator.operators.get(one) for each in shown for one in (each.subject, *others(each))}
    names = {one.name for one in named if one and one.is_installed and not one.owner}
    return [one for one in translator.inputs.installed if one.name in names]
