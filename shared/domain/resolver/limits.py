"""What the annotations of Subscriptions exclude: each annotation becomes one constraint, and so one fact."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Final

from shared import names
from shared.domain.resolver.candidate_cache import CandidateCache
from shared.domain.resolver.candidates import Candidates, candidates
from shared.domain.resolver.channels import ChannelError
from shared.domain.resolver.constraints import Dependency, Excluded, Id, of_subscription
from shared.domain.resolver.model import Subscriber
from shared.domain.resolver.operators import Operator
from shared.domain.resolver.reasons import Code
from shared.domain.resolver.subscription_policy import IGNORE, NONE, REQUIRE
from shared.domain.semver import Version

Needs = Mapping[Operator, Sequence[Dependency]]
"""The dependencies of each operator that is installed or may be chosen."""
IdOf = Callable[[Operator], Id]
_CODES: Final = {
    names.VERSION: Code.VERSION_NOT_ACCEPTED,
    names.HOLD: Code.HELD,
    names.HOLD_INSTALLED: Code.HELD,
    names.DEPENDENCIES: Code.DEPENDENCIES_REQUIRED,
}
"""What is said when an annotation excludes something."""


def ignores_dependencies(subscribers: Iterable[Subscriber], cache: CandidateCache) -> Iterator[Operator]:
    """The operators whose dependencies are ignored, because their Subscription says so. AmbiguousInstallation."""
    for subscriber in subscribers:
        if subscriber.policy.dependencies == IGNORE:
            try:
                yield from _options(candidates(subscriber, cache))
            except ChannelError:
                continue  # `build_constraints` reports the same error


def limits(asked: Sequence[Candidates], needs: Needs, cache: CandidateCache, id_of: IdOf) -> dict[str, list[Excluded]]:
    """What each Subscription excludes by `olmf.io/version`, `hold`, `hold-installed` and `dependencies: require`."""
    forbidden: dict[str, list[Excluded]] = {}
    for found in asked:
        if found.subscriber.policy != NONE:
            forbidden[found.subscriber.name] = [*_of_versions(found, cache, id_of), *_of_holds(found, needs, id_of)]
    for found, missing in _unsupplied(asked, needs, cache, id_of):
        why = "requires that what it needs is there"
        forbidden[found.subscriber.name] += _excluded(found, missing, why, names.DEPENDENCIES)
    return forbidden


def _of_versions(found: Candidates, cache: CandidateCache, id_of: IdOf) -> Iterator[Excluded]:
    policy = found.subscriber.policy
    if policy.version:
        leading = _leading_to_accepted(found, cache)
        others = [one for one in _options(found) if not policy.accepts(one.name, one.version) and one not in leading]
        yield from _excluded(found, map(id_of, others), f"accepts only {policy.version}", names.VERSION)


def _of_holds(found: Candidates, needs: Needs, id_of: IdOf) -> Iterator[Excluded]:
    policy = found.subscriber.policy
    if found.current is None and policy.hold:
        mine = [one for one in needs if not one.is_installed and one.package == found.subscriber.package]
        why = f"gets nothing, because it is held: {policy.hold}"
        yield from _excluded(found, sorted(map(id_of, mine)), why, names.HOLD)
    elif policy.why_held and found.current is not None:
        why = f"keeps {found.current.name}, because it is held: {policy.why_held}"
        annotation = names.HOLD if policy.hold else names.HOLD_INSTALLED
        yield from _excluded(found, map(id_of, found.operators), why, annotation)


def _unsupplied(
    asked: Sequence[Candidates], needs: Needs, cache: CandidateCache, id_of: IdOf
) -> Iterator[tuple[Candidates, list[Id]]]:
    """For each Subscription with `dependencies: require`: its dependencies that nobody else brings."""
    if not (strict := [found for found in asked if found.subscriber.policy.dependencies == REQUIRE]):
        return
    by_id = {id_of(one): found for one, found in needs.items()}
    mine = {id_of(one) for found in strict for one in _options(found)}
    claimed = {id_of(one) for found in asked for one in _options(found)}
    claimed |= {id_of(one) for one in needs if one.is_installed or one.name in cache.copies}
    there = claimed | _reach(claimed - mine, by_id)
    for found in strict:
        yield found, sorted(_reach(map(id_of, _options(found)), by_id) - there)


def _options(found: Candidates) -> tuple[Operator, ...]:
    return found.operators if found.current is None else (*found.operators, found.current)


def _excluded(found: Candidates, others: Iterable[Id], why: str, annotation: str) -> Iterator[Excluded]:
    if listed := tuple(dict.fromkeys(others)):
        name = found.subscriber.name
        text = f"subscription {name} {why} (annotation {annotation})"
        yield Excluded(of_subscription(name), listed, text, _CODES[annotation])


def _leading_to_accepted(found: Candidates, cache: CandidateCache) -> set[Operator]:
    """If the pin does not accept the installed version: whatever updates to higher versions lead to one it accepts."""
    desired, current = found.subscriber, found.current
    accepts = desired.policy.accepts
    if current is None or accepts(current.name, current.version):
        return set()
    offered = [one for one in cache.package(desired.catalog, desired.package) if desired.follows(one.channel)]
    known = [(one.version, one) for one in offered if one.version is not None]
    leading: list[tuple[Version, Operator]] = []
    for version, one in sorted(known, key=itemgetter(0), reverse=True):
        if accepts(one.name, version) or any(to > version and each.updates(one.name, version) for to, each in leading):
            leading.append((version, one))
    return {one for _, one in leading}


def _reach(roots: Iterable[Id], needs: Mapping[Id, Sequence[Dependency]]) -> set[Id]:
    """The direct and transitive dependencies of the roots."""
    waiting, seen = list(roots), set[Id]()
    while waiting:
        for need in needs.get(waiting.pop(), ()):
            for option in need.options:
                if option not in seen:
                    seen.add(option)
                    waiting.append(option)
    return seen
