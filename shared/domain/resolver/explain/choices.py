"""Why a Subscription gets the version it gets: which rule removed each newer one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from shared.domain.resolver.candidates import Candidates, candidates
from shared.domain.resolver.conflict import conflict
from shared.domain.resolver.constraints import Id, Mandatory, Variable
from shared.domain.resolver.decide import components
from shared.domain.resolver.explain.facts import SUBSCRIPTION, Reader
from shared.domain.resolver.explain.fixes import Posed, posed, remembered
from shared.domain.resolver.model import Inputs, Refusal, Resolution, Subscriber
from shared.domain.resolver.operators import Operator
from shared.domain.resolver.problem import Problem
from shared.domain.resolver.solver import Unsatisfiable, solve

_PLAIN = ("SubscriptionExists", "Candidates", "Replaces", "NameTaken")


@dataclass(frozen=True, slots=True)
class Passed:
    """A newer version that is not taken."""

    name: str
    code: str
    """The stable code of the rule that removed it."""
    sentence: str


@dataclass(frozen=True, slots=True)
class Choice:
    """The decision for a Subscription: the version that it gets, or keeps."""

    subscriber: str
    package: str
    installed: str
    gets: str
    """Empty: nothing new."""
    reason: str
    newer: tuple[Passed, ...] = ()
    """Newest first."""


def choices(inputs: Inputs, resolution: Resolution) -> tuple[Choice, ...]:
    """A choice for each Subscription that is not refused, by name. GaveUp."""
    found = posed(remembered(inputs))
    refused = {name for one in resolution.components if one.refusal for name in one.subscribers}
    gets = {name: one.bundle.name for one in resolution.chosen for name in one.subscribers}
    subscribers = sorted(found.inputs.subscribers, key=lambda one: one.name)
    going = [one for one in subscribers if one.name in resolution.reasons and one.name not in refused]
    return tuple(
        Choice(
            one.name, one.package, one.installed_csv, gets.get(one.name, ""), resolution.reasons[one.name],
            _newer(one, gets, found),
        )
        for one in going
    )  # fmt: skip


def _newer(wanted: Subscriber, gets: dict[str, str], found: Posed) -> tuple[Passed, ...]:
    offered = found.market.package(wanted.catalog, wanted.package)
    taken = gets.get(wanted.name) or wanted.installed_csv
    version = next((one.version for one in offered if one.name == taken), None)
    if found.problem is None or version is None:
        return ()
    newer: dict[str, list[Operator]] = {}
    for one in sorted(offered, key=lambda one: one.channel):
        if one.version is not None and one.version > version:
            newer.setdefault(one.name, []).append(one)
    rules = _Rules(
        wanted, candidates(wanted, found.market), offered, gets, found.problem, Reader(found.inputs, found.problem)
    )
    ordered = sorted(newer.values(), key=lambda same: (same[0].version, same[0].name), reverse=True)
    return tuple(Passed(same[0].name, *rules.of(same)) for same in ordered)


@dataclass(frozen=True, slots=True)
class _Rules:
    """Finds the rule that removed a version."""

    wanted: Subscriber
    found: Candidates
    offered: Sequence[Operator]
    gets: dict[str, str]
    problem: Problem
    reader: Reader

    def of(self, same: Sequence[Operator]) -> tuple[str, str]:
        """The code of the rule and a sentence, for the operators of one version in all of its channels."""
        channels = [one.channel for one in same]
        followed = [one for one in same if self.wanted.channel in ("", one.channel)]
        if not followed:
            return (
                "OtherChannel",
                f"only in channel {', '.join(channels)}; the Subscription follows {self.wanted.channel}",
            )
        if self.found.current is None and self.wanted.starting_csv:
            return "StartingCSV", f"startingCSV asks for {self.wanted.starting_csv}"
        if (one := next((one for one in followed if one in self.found.operators), None)) is not None:
            return self._blocked(one)
        return self._no_edge(followed[0])

    def _no_edge(self, one: Operator) -> tuple[str, str]:
        skippers = [each.name for each in self.offered if one.name in each.skips and each.channel == one.channel]
        if skippers:
            return "Skipped", f"skipped by {skippers[0]}, so it is never installed by itself"
        if self.found.current is None:
            return "NotOnChain", f"no chain of replacements leads from the head of channel {one.channel} to it"
        return "NoEdge", f"does not update {self.found.current.name}{_edges(one)}"

    def _blocked(self, one: Operator) -> tuple[str, str]:
        variables = tuple(self._forced(one))
        try:
            solve(variables)
        except Unsatisfiable:
            texts = tuple(fact.text for fact in conflict(variables))
            known = self.reader.facts(Refusal("ConstraintsNotSatisfiable", "", texts))
            told = ((fact.code, fact.sentence) for fact in known if fact.code not in _PLAIN)
            return next(told, ("Blocked", f"excluded by {', '.join(texts)}"))
        return "Preferred", "what is taken comes before it: nearer to the head, or in the default channel"

    def _forced(self, wanted: Operator) -> Iterator[Variable]:
        """The component, with two more demands: this version, and the versions that earlier Subscriptions got."""
        mine = Id(f"{SUBSCRIPTION}{self.wanted.name}")
        group = next(each for each in components(self.problem.variables) if any(one.id == mine for one in each))
        before = {name for subscriber, name in self.gets.items() if subscriber < self.wanted.name}
        for variable in group:
            operator = self.problem.operators.get(variable.id)
            is_earlier = operator is not None and not operator.is_installed and operator.name in before
            if operator is wanted or is_earlier:
                demand = Mandatory(variable.id, f"{variable.id} is wanted")
                yield replace(variable, constraints=(demand, *variable.constraints))
            else:
                yield variable


def _edges(one: Operator) -> str:
    parts = [f"replaces {one.replaces}"] if one.replaces else []
    parts += [f"skips {', '.join(one.skips[:3])}"] if one.skips else []
    parts += [f"skips versions {one.skip_range.text}"] if one.skip_range else []
    return f": it {' and '.join(parts)}" if parts else ": it replaces nothing"
