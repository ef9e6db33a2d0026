"""Which operators one Subscription may get, best first (resolver.md §5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

from shared.domain.resolver.candidate_cache import CandidateCache
from shared.domain.resolver.channels import in_order
from shared.domain.resolver.model import Subscriber
from shared.domain.resolver.operators import Operator
from shared.domain.resolver.predicates import is_of_package
from shared.domain.resolver.reasons import Code, Reason


class AmbiguousInstallation(ValueError):
    """Several ClusterServiceVersions have the name that a Subscription says is installed."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a Subscription may get."""

    subscriber: Subscriber
    current: Operator | None
    """The installed version; None when its ClusterServiceVersion does not exist."""
    operators: tuple[Operator, ...] = ()
    """The versions it may get instead, best first."""
    refusal: Reason | None = None
    """The field of its spec that left no version to choose from; None when there are candidates."""


def candidates(subscriber: Subscriber, cache: CandidateCache) -> Candidates:
    """The candidates of a Subscription.

    AmbiguousInstallation; ChannelError when a channel of its package has no order.
    """
    current = _current(subscriber, cache)
    if current is None and subscriber.policy.hold:
        return Candidates(subscriber, None)
    pool, refusal = _pool(subscriber, cache, is_new=current is None)
    if refusal:
        return Candidates(subscriber, current, refusal=refusal)
    if cache.is_anywhere(subscriber.catalog):
        channels = groupby(sorted(pool, key=_rank), lambda one: one.channel)
        ordered = [one for _, channel in channels for one in in_order(tuple(channel))]
    elif current is None and subscriber.starting_csv:
        ordered = [one for each in sorted(pool, key=_rank) for one in cache.alone(each)]
    else:
        groups = sorted({(_rank(one), one.package) for one in pool})
        ordered = [
            one for (_, channel), package in groups for one in cache.ordered(pool[0].catalog, (package, channel))
        ]
    policy = subscriber.policy
    if current is None and policy.is_pin:  # a pin may ask for a version that a higher one skips
        ordered += [one for one in pool if one not in ordered and policy.accepts(one.name, one.version)]
    kept = [one for one in ordered if current is None or one.updates(current.name, current.version)]
    return Candidates(subscriber, current, tuple(dict.fromkeys(_with_siblings(kept, pool))))


def _current(subscriber: Subscriber, cache: CandidateCache) -> Operator | None:
    found = [one for one in cache.installed if one.name == subscriber.installed_csv]
    if len(found) > 1:
        names = ", ".join(one.name for one in found)
        where = f"subscription {cache.namespace}/{subscriber.name}"
        raise AmbiguousInstallation(f"multiple name matches for status.installedCSV of {where}: {names}")
    return found[0] if found else None


def _pool(subscriber: Subscriber, cache: CandidateCache, *, is_new: bool) -> tuple[Sequence[Operator], Reason | None]:
    """The operators that match catalog, package, channel and startingCSV; or the first of these that none matches."""
    catalog, package, channel = subscriber.catalog, subscriber.package, subscriber.channel
    catalogs = cache.referenced(catalog)
    if not catalogs:
        where = f"from catalog {catalog.name} in namespace {catalog.namespace}"
        return _none(Code.CATALOG_EMPTY, f"{where} referenced by subscription {subscriber.name}")
    of_package = f"package {package} in the catalog referenced by subscription {subscriber.name}"
    pool = tuple(chain.from_iterable(cache.package(key, package) for key in catalogs))
    if cache.is_anywhere(catalog):
        pool += tuple(one for one in cache.installed if is_of_package(one, package))
    if not pool:
        return _none(Code.PACKAGE_MISSING, f"in {of_package}")
    pool = tuple(one for one in pool if one.channel == channel) if channel else pool
    if not pool:
        return _none(Code.CHANNEL_MISSING, f"in channel {channel} of {of_package}")
    if is_new and subscriber.starting_csv:
        pool = tuple(one for one in pool if one.name == subscriber.starting_csv)
        if not pool:
            where = f"in channel {channel} of {of_package}"
            return _none(Code.VERSION_MISSING, f"with name {subscriber.starting_csv} {where}")
    return pool, None


def _none(code: Code, where: str) -> tuple[tuple[Operator, ...], Reason]:
    return (), Reason(code, f"no operators found {where}")


def _rank(one: Operator) -> tuple[bool, str]:
    return (not one.is_default, one.channel)


def _with_siblings(kept: Sequence[Operator], pool: Sequence[Operator]) -> Iterator[Operator]:
    """Each operator, followed by the operators of the same name in other channels (resolver.md §14.2)."""
    namesakes: dict[str, list[Operator]] = {}
    for one in sorted(pool, key=_rank):
        namesakes.setdefault(one.name, []).append(one)
    for one in kept:
        yield one
        yield from namesakes[one.name]
