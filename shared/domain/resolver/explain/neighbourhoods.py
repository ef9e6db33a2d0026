"""Which parts of a namespace no constraint can connect, so that after a change only some are decided again.

Constraints are about nodes: packages, APIs, installed versions, Subscriptions. An operator has the nodes that it
states and those where its requirements seek; a Subscription has its package, and every installed version that it has or
could adopt. What a constraint connects shares a node, so what shares none is decided apart, whatever else changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, replace
from functools import cached_property

from shared.domain.resolver.decide import without_explanation
from shared.domain.resolver.disjoint import Disjoint
from shared.domain.resolver.identity import Installed
from shared.domain.resolver.model import Inputs, Resolution, Subscriber
from shared.domain.resolver.predicates import Sought
from shared.domain.resolver.request import ResolutionRequest
from shared.domain.resolver.resolve import resolution_of

Node = tuple[str, str]
"""A kind and a name."""
_ANYWHERE: Node = ("anywhere", "")
"""Where a requirement seeks that any operator might meet."""


@dataclass(frozen=True)
class Neighbourhoods:
    """The neighbourhoods of a namespace, each known by one of its nodes."""

    request: ResolutionRequest

    def after(self, changed: Inputs, names: Iterable[str]) -> Resolution:
        """The verdicts after a change, for the neighbourhoods of these Subscriptions and of whatever is changed.

        All others keep theirs. Of a catalog that stays, only what the named Subscriptions reach may be changed.
        """
        if self._is_one or changed.problem or changed.is_whole:
            return resolution_of(ResolutionRequest(changed), why=without_explanation)
        reached = {self._joined.root(("subscription", name)) for name in names} | self._touched(changed)
        while True:
            near = ResolutionRequest(self._narrowed(changed, reached))
            nodes = {node for group in _groups(near, self._versions) for node in group}
            more = {self._joined.root(node) for node in nodes if node in self._joined} - reached
            if _ANYWHERE in nodes:
                more = set(self._holders.values()) - reached
            if not more:
                return resolution_of(near, why=without_explanation)
            reached |= more

    @cached_property
    def _is_one(self) -> bool:
        """Whether everything is connected with everything."""
        asked = self.request.asked
        return bool(asked.is_whole or asked.problem or self.request.solver_input.ambiguity or _ANYWHERE in self._joined)

    @cached_property
    def _joined(self) -> Disjoint[Node]:
        joined = Disjoint[Node]()
        for first, *others in _groups(self.request, self._versions):
            joined.join(first, others)
        return joined

    @cached_property
    def _versions(self) -> frozenset[str]:
        return frozenset(one.name for one in self.request.asked.installed)

    @cached_property
    def _holders(self) -> dict[int, Node]:
        """The neighbourhood of each Subscription and installed version, by the identity of its value."""
        return {id(one): self._joined.root(_own(one)) for one in _roots(self.request.asked)}

    def _narrowed(self, changed: Inputs, reached: Set[Node]) -> Inputs:
        """The changed inputs, without what is in neighbourhoods that are not reached."""
        far = {one for one, node in self._holders.items() if node not in reached}
        return replace(
            changed,
            subscribers=tuple(one for one in changed.subscribers if id(one) not in far),
            installed=tuple(one for one in changed.installed if id(one) not in far),
        )

    def _touched(self, changed: Inputs) -> set[Node]:
        """The neighbourhoods in which a Subscription or installed version changed, or can newly be decided or read."""
        asked = self.request.asked
        kept = {id(one) for one in _roots(changed)}
        touched = {node for one, node in self._holders.items() if one not in kept}
        if changed.catalogs is not asked.catalogs or changed.is_strict != asked.is_strict:
            came_or_went = changed.catalogs.keys() ^ asked.catalogs.keys()
            aside = self.request.aside.keys() ^ ResolutionRequest(changed).aside.keys()
            touched |= {
                self._holders[id(one)] for one in asked.subscribers if one.catalog in came_or_went or one.name in aside
            }
        return touched


def _roots(inputs: Inputs) -> Iterator[Subscriber | Installed]:
    yield from inputs.subscribers
    yield from inputs.installed


def _own(one: Subscriber | Installed) -> Node:
    return ("subscription" if isinstance(one, Subscriber) else "version", one.name)


def _groups(request: ResolutionRequest, versions: Set[str]) -> Iterator[Iterable[Node]]:
    """Places that belong together: those of each Subscription, installed version and package."""
    for subscriber in request.asked.subscribers:
        offered = request.asked.package(subscriber.catalog, subscriber.package)
        adoptable = versions & offered.bundles.keys() if offered else ()
        has = filter(None, (subscriber.installed_csv, *adoptable))
        yield _own(subscriber), *(("version", name) for name in has)
    for one in request.solver_input.asked:
        if one.refusal is None:
            yield _own(one.subscriber), ("package", one.subscriber.package)
    for installed in request.cache.installed:
        yield ("version", installed.name), ("package", installed.package)
    there: dict[str, set[Sought]] = {}
    for operator, required in request.solver_input.requirements.items():
        mine = there.setdefault(operator.package, {("package", operator.package)})
        mine.update(("package", package.name) for package in operator.facts.packages)
        mine.update(("api", api) for api in operator.facts.apis)
        for each in required:
            mine.update((_ANYWHERE,) if each.seeks is None else each.seeks)
    yield from ([(kind, str(what)) for kind, what in mine] for mine in there.values())
