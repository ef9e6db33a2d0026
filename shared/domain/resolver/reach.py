"""Whether a channel leads anywhere from an installed version, and which other channel does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from shared.domain.resolver.candidate_cache import CandidateCache
from shared.domain.resolver.model import Subscriber
from shared.domain.resolver.operators import Operator
from shared.domain.semver import Version


def dead_end(subscriber: Subscriber, cache: CandidateCache) -> str:
    """Why no update leads from the installed version into the channel of a Subscription; empty when one may."""
    offered: dict[str, list[Operator]] = {}
    for one in cache.package(subscriber.catalog, subscriber.package):
        offered.setdefault(one.channel, []).append(one)
    version = next((one.version for one in cache.installed if one.name == subscriber.installed_csv), None)
    return Reach(offered, subscriber.installed_csv, version).dead_end(subscriber.channel)


@dataclass(frozen=True, slots=True)
class Reach:
    """Where the channels of a package lead from one installed version."""

    offered: Mapping[str, Sequence[Operator]]
    """The operators of the package by channel."""
    name: str
    """The ClusterServiceVersion."""
    version: Version | None

    def dead_end(self, channel: str) -> str:
        """Why no update leads from the version into a channel that does not have it; empty otherwise.

        Nothing is said about a channel that the package does not have, nor about a Subscription without a channel.
        """
        there = self.offered.get(channel)
        if not there or self._is_on(channel, self.name, self.version):
            return ""
        head = _shown(_newest(_heads(there)))
        beyond = f"the head {head} cannot be reached from it{self._instead(channel)}"
        return f"{self._me()} is not in channel {channel}, and nothing there replaces it; {beyond}"

    def leads(self, channel: str) -> bool:
        """Whether a channel updates the version."""
        return any(one.updates(self.name, self.version) for one in self.offered.get(channel, ()))

    def _me(self) -> str:
        known = (one for there in self.offered.values() for one in there if one.name == self.name)
        return _shown(one) if (one := next(known, None)) else self.name

    def _is_on(self, channel: str, name: str, version: Version | None) -> bool:
        """Whether a channel has a version, or updates it."""
        return any(one.name == name or one.updates(name, version) for one in self.offered[channel])

    def _instead(self, desired: str) -> str:
        """In brackets the channels that lead to the wanted one, or else those that have the version; may be empty."""
        others = {name: list(self._walk(name)) for name in sorted(self.offered) if name != desired}
        ways = [name for name, walk in others.items() if any(self._is_on(desired, at.name, at.version) for at in walk)]
        if ways:
            return f" (go by channel {' or '.join(ways)})"
        holders = [name for name in others if any(one.name == self.name for one in self.offered[name])]
        goals = [f"{name}, where it goes to {_shown(others[name][-1])}" if others[name] else name for name in holders]
        return f" (it is only in channel {' and '.join(goals)})" if goals else ""

    def _walk(self, channel: str) -> Iterator[Operator]:
        """The versions that a channel leads to, one update after the other, each time to the newest."""
        name, version, seen = self.name, self.version, {self.name}
        while found := [one for one in self.offered[channel] if one.name not in seen and one.updates(name, version)]:
            newest = _newest(found)
            yield newest
            name, version = newest.name, newest.version
            seen.add(name)


def _heads(there: Sequence[Operator]) -> Sequence[Operator]:
    passed = {name for one in there for name in (one.replaces, *one.skips)}
    return [one for one in there if one.name not in passed] or there


def _newest(found: Sequence[Operator]) -> Operator:
    versioned = [one for one in found if one.version is not None]
    return max(versioned, key=lambda one: (one.version, one.name)) if versioned else found[0]


def _shown(one: Operator) -> str:
    return str(one.version or one.name)
