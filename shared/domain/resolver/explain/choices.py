"""Why a Subscription gets the version it gets: which rule removed each newer one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shared.domain.resolver.candidate_cache import CandidateCache
from shared.domain.resolver.candidates import Candidates, candidates
from shared.domain.resolver.explain.demands import Demands
from shared.domain.resolver.explain.facts import Translator
from shared.domain.resolver.model import NOT_IN_CHANNEL, Chosen, Inputs, Resolution, Subscriber
from shared.domain.resolver.operators import Operator
from shared.domain.resolver.reasons import Code
from shared.domain.resolver.request import ResolutionRequest, memoized

_PLAIN = (Code.SUBSCRIPTION_EXISTS, Code.CANDIDATES, Code.REPLACES, Code.DEMANDED)

AFTER_PLAN = "AfterPlan"
"""The code of a version that nothing removed: an unfinished plan goes first."""


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
    dead_end: str = ""
    """Why its channel leads nowhere from the installed version."""


def choices(inputs: Inputs, resolution: Resolution) -> tuple[Choice, ...]:
    """A choice for each Subscription that is not refused, by name. GaveUp."""
    request = ResolutionRequest(memoized(inputs))
    gets = {name: one for one in resolution.chosen for name in one.subscribers}
    subscribers = sorted(request.inputs.subscribers, key=lambda one: one.name)
    going = [one for one in subscribers if one.name in resolution.reasons and one.name not in resolution.refused]
    ends = {name: why.message for name, why in resolution.stays.items() if why.reason == NOT_IN_CHANNEL}
    with Demands(request.solver_input) as demands:
        newer = _Newer(request, gets, demands)
        return tuple(
            Choice(
                one.name, one.package, one.installed_csv, gets[one.name].bundle.name if one.name in gets else "",
                resolution.reasons[one.name], newer.of(one), ends.get(one.name, ""),
            )
            for one in going
        )  # fmt: skip


def operator_of(chosen: Chosen, cache: CandidateCache) -> Operator:
    """The operator of a bundle that was chosen."""
    offered = cache.package(chosen.catalog.key, chosen.package)
    return next(one for one in offered if (one.channel, one.name) == (chosen.channel, chosen.bundle.name))


class _Newer:
    """Finds the newer versions that a Subscription does not get."""

    def __init__(self, request: ResolutionRequest, gets: Mapping[str, Chosen], demands: Demands) -> None:
        self._cache = request.cache
        self._gets = {name: operator_of(one, request.cache) for name, one in gets.items()}
        self._translator = Translator(request.inputs, request)
        self._demands = demands

    def of(self, desired: Subscriber) -> tuple[Passed, ...]:
        """Newest first."""
        offered = self._cache.package(desired.catalog, desired.package)
        kept = desired.planned_csv or desired.installed_csv
        taken = self._gets[desired.name].name if desired.name in self._gets else kept
        version = next((one.version for one in offered if one.name == taken), None)
        if version is None:
            return ()
        newer: dict[str, list[Operator]] = {}
        for one in sorted(offered, key=lambda one: one.channel):
            if one.version is not None and one.version > version:
                newer.setdefault(one.name, []).append(one)
        earlier = [one for name, one in self._gets.items() if name < desired.name]
        rules = _Rules(desired, candidates(desired, self._cache), offered, earlier, self._demands, self._translator)
        ordered = sorted(newer.values(), key=lambda same: (same[0].version, same[0].name), reverse=True)
        return tuple(Passed(same[0].name, *rules.of(same)) for same in ordered)


@dataclass(frozen=True, slots=True)
class _Rules:
    """Finds the rule that removed a version."""

    desired: Subscriber
    found: Candidates
    offered: Sequence[Operator]
    earlier: Sequence[Operator]
    """What Subscriptions before it got."""
    demands: Demands
    translator: Translator

    def of(self, same: Sequence[Operator]) -> tuple[str, str]:
        """The code of the rule and a sentence, for the operators of one version in all of its channels."""
        channels = [one.channel for one in same]
        followed = [one for one in same if self.desired.follows(one.channel)]
        if not followed:
            return (
                "OtherChannel",
                f"only in channel {', '.join(channels)}; the Subscription follows {self.desired.channel}",
            )
        if self.found.current is None and self.desired.starting_csv:
            if self.desired.planned_csv:
                return self._later()
            return "StartingCSV", f"startingCSV asks for {self.desired.starting_csv}"
        if (one := next((one for one in followed if one in self.found.operators), None)) is not None:
            return self._blocked(one)
        return self._no_edge(followed[0])

    def _later(self) -> tuple[str, str]:
        """Nothing was compared with it: the catalogs are asked again when the plan has ended."""
        planned = self.desired.planned_csv
        return AFTER_PLAN, f"a plan for {planned} is under way; newer ones are looked at after it"

    def _no_edge(self, one: Operator) -> tuple[str, str]:
        skippers = [each.name for each in self.offered if one.name in each.skips and each.channel == one.channel]
        if skippers:
            return "Skipped", f"skipped by {skippers[0]}, so it is never installed by itself"
        if self.found.current is None:
            return "NotOnChain", f"no chain of replacements leads from the head of channel {one.channel} to it"
        return "NoEdge", f"does not update {self.found.current.name}{_edges(one)}"

    def _blocked(self, one: Operator) -> tuple[str, str]:
        contradiction = self.demands.contradiction(one, self.earlier)
        if not contradiction and self.desired.planned_csv:
            return self._later()
        if not contradiction:
            return "Preferred", "what is taken comes before it: nearer to the head, or in the default channel"
        sentences = ((fact.code, self.translator.sentence(fact)) for fact in contradiction if fact.code not in _PLAIN)
        return next(sentences, ("Blocked", f"excluded by {', '.join(fact.text for fact in contradiction)}"))


def _edges(one: Operator) -> str:
    parts = [f"replaces {one.replaces}"] if one.replaces else []
    parts += [f"skips {', '.join(one.skips[:3])}"] if one.skips else []
    parts += [f"skips versions {one.skip_range.text}"] if one.skip_range else []
    return f": it {' and '.join(parts)}" if parts else ": it replaces nothing"
