"""The simple resolver: each Subscription takes the best entry of its package; what that lacks is said, not sought."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from shared.domain.catalog.model import Package
from shared.domain.resolver.copies import occupied, way_out
from shared.domain.resolver.model import Chosen, Component, Inputs, Installed, Refusal, Resolution, Subscriber
from shared.domain.resolver.pool import Candidate, ChannelError, pool
from shared.domain.resolver.requirements import Provided, provided, required

_UNSATISFIABLE = "constraints not satisfiable: "


@dataclass(frozen=True, slots=True)
class _Keeps:
    """The Subscription stays with what it has."""

    reason: str


@dataclass(frozen=True, slots=True)
class _Takes:
    """The Subscription wants this bundle."""

    chosen: Chosen


_Answer = _Keeps | _Takes | Refusal


def resolve(inputs: Inputs) -> Resolution:
    """The answer for a namespace; depends on nothing but the inputs, in whatever order they come."""
    subscribers = sorted(inputs.subscribers, key=lambda one: one.name)
    if inputs.problem:
        answers: dict[str, _Answer] = {
            one.name: _Keeps(one.waits) if one.waits else _prevented(inputs.problem) for one in subscribers
        }
    else:
        answers = {one.name: _own_answer(one, inputs) for one in subscribers}
        _refuse_rivals(answers, inputs)
        _refuse_needy(answers, inputs)
    groups = _groups(subscribers, answers, is_whole=inputs.is_whole)
    components = [_component(group, answers, is_whole=inputs.is_whole) for group in groups]
    return Resolution(tuple(components), {name: _reason(answer) for name, answer in answers.items()})


def _own_answer(subscriber: Subscriber, inputs: Inputs) -> _Answer:
    """What the Subscription would get if it were alone."""
    if subscriber.waits:
        return _Keeps(subscriber.waits)
    catalog = inputs.catalogs.get(subscriber.catalog)
    if catalog is None:
        return _unsatisfiable(
            f"no operators found from catalog {subscriber.catalog.name} in namespace {subscriber.catalog.namespace} "
            f"referenced by subscription {subscriber.name}",
            subscriber,
        )
    if not catalog.reference:
        problem = f"error using catalogsource {catalog.key}: {catalog.problem}"
        return _prevented(problem) if catalog.problem else _Keeps(f"catalog {catalog.key} has not been read yet")
    package = inputs.packages.get((catalog.key, subscriber.package))
    if isinstance(package, str):
        return _prevented(f"error using catalogsource {catalog.key}: {package}")
    return _from_package(subscriber, package or Package(subscriber.package, "", (), {}), inputs)


def _from_package(subscriber: Subscriber, package: Package, inputs: Inputs) -> _Answer:
    current = next((one for one in inputs.installed if one.name == subscriber.installed_csv), None)
    try:
        candidates = pool(subscriber, package, current)
    except ChannelError as error:
        return _prevented(str(error))
    if isinstance(candidates, str):
        return _unsatisfiable(candidates, subscriber)
    best = next((one for one in candidates if not one.is_deprecated), None)
    if best is not None and best.bundle.name == subscriber.failed_csv:
        return _Keeps(f"the InstallPlan of {best.bundle.name} failed, and nothing in its channel passes it yet")
    if best is not None and best.bundle.name in inputs.copies:
        return _already_served(best.bundle.name, inputs.copies[best.bundle.name], subscriber)
    if best is not None:
        return _Takes(_chosen(best, subscriber, inputs, current))
    if current is not None:
        return _Keeps(f"{current.name} is installed, and nothing in its channel replaces it")
    return _unsatisfiable(
        f"every bundle of package {package.name} that subscription {subscriber.name} may use is deprecated", subscriber
    )


def _already_served(csv: str, home: str, subscriber: Subscriber) -> Refusal:
    """A copy cannot become the operator, and two objects of one name cannot be: somebody has to choose."""
    refusal = _unsatisfiable(occupied(csv, home), subscriber)
    return replace(refusal, message=f"{refusal.message}. {way_out(home)}")


def _chosen(best: Candidate, subscriber: Subscriber, inputs: Inputs, current: Installed | None) -> Chosen:
    return Chosen(
        best.bundle,
        subscriber.package,
        best.channel,
        inputs.catalogs[subscriber.catalog],
        best.entry.replaces if current is None else current.name,
        (subscriber.name,),
    )


def _refuse_rivals(answers: dict[str, _Answer], inputs: Inputs) -> None:
    """One provider per package and per API: whoever asks for a second one is refused."""
    takes = _takes(answers)
    owners = {one.installed_csv: one.name for one in inputs.subscribers if one.installed_csv}
    replaced = {chosen.replaces for chosen in takes.values()}
    stays = {one.name: provided(one.name, one.properties) for one in inputs.installed if one.name not in replaced}
    facts = {name: _facts(chosen) for name, chosen in takes.items()}
    for name, mine in facts.items():
        others = [other for rival, other in facts.items() if rival != name and other.name != mine.name]
        clashes = {clash for other in (*stays.values(), *others) if (clash := _clash(mine, other))}
        if not clashes and owners.get(mine.name, name) != name and mine.name in stays:
            clashes = {f"{mine.name} is installed by subscription {owners[mine.name]}"}
        if clashes:
            facts_told = sorted({*clashes, f"subscription {name} exists"})
            answers[name] = Refusal("ConstraintsNotSatisfiable", _UNSATISFIABLE + ", ".join(facts_told))


def _clash(mine: Provided, other: Provided) -> str:
    """Why the two cannot both be there; a CSV of the same name that no Subscription claims is adopted, not fought."""
    first, second = sorted((mine.name, other.name))
    if mine.name == other.name:
        return ""
    packages = {name for name, _ in mine.packages} & {name for name, _ in other.packages}
    if packages:
        return f"{first} and {second} originate from package {min(packages)}"
    if shared := mine.apis & other.apis:
        return f"{first} and {second} provide {min(shared)}"
    return ""


def _refuse_needy(answers: dict[str, _Answer], inputs: Inputs) -> None:
    """Refuse what needs something that nobody provides, until no refusal takes away what another one needs."""
    installed = [provided(one.name, one.properties) for one in inputs.installed]
    while True:
        takes = _takes(answers)
        offers = [*installed, *map(_facts, takes.values())]
        refused = {name: refusal for name, chosen in takes.items() if (refusal := _needs(chosen, offers))}
        if not refused:
            return
        answers.update(refused)


def _needs(chosen: Chosen, offers: Sequence[Provided]) -> Refusal | None:
    try:
        unmet = [one.text for one in required(chosen.bundle.properties) if not any(map(one.is_met_by, offers))]
    except ValueError as error:
        return _prevented(f"bundle {chosen.bundle.name}: {error}")
    if not unmet:
        return None
    needs = ", ".join(f"bundle {chosen.bundle.name} requires {text}" for text in unmet)
    return Refusal(
        "ConstraintsNotSatisfiable",
        f"{_UNSATISFIABLE}{needs}. {chosen.bundle.name} needs this first: install an operator that provides it in "
        "this namespace; dependencies are not installed by themselves yet.",
    )


def _takes(answers: Mapping[str, _Answer]) -> dict[str, Chosen]:
    return {name: answer.chosen for name, answer in answers.items() if isinstance(answer, _Takes)}


def _facts(chosen: Chosen) -> Provided:
    return provided(chosen.bundle.name, chosen.bundle.properties)


def _groups(
    subscribers: Iterable[Subscriber], answers: Mapping[str, _Answer], *, is_whole: bool
) -> list[list[Subscriber]]:
    """Subscriptions that stand or fall together: of one package, or one needing what another one brings."""
    groups: list[list[Subscriber]] = []
    takes = _takes(answers)
    for subscriber in subscribers:
        linked = [group for group in groups if is_whole or any(_linked(one, subscriber, takes) for one in group)]
        groups = [group for group in groups if group not in linked]
        groups.append([one for group in linked for one in group] + [subscriber])
    return sorted(groups, key=lambda group: group[0].name)


def _linked(one: Subscriber, other: Subscriber, takes: Mapping[str, Chosen]) -> bool:
    if one.package == other.package:
        return True
    mine, yours = takes.get(one.name), takes.get(other.name)
    if mine is None or yours is None:
        return False
    return _serves(mine, yours) or _serves(yours, mine)


def _serves(giver: Chosen, taker: Chosen) -> bool:
    gives = _facts(giver)
    return any(requirement.is_met_by(gives) for requirement in required(taker.bundle.properties))


def _component(group: Sequence[Subscriber], answers: Mapping[str, _Answer], *, is_whole: bool) -> Component:
    names = tuple(sorted(one.name for one in group))
    refusal = next((answer for name in names if isinstance(answer := answers[name], Refusal)), None)
    is_settled = refusal is None and (is_whole or not any(one.waits for one in group))
    merged: dict[str, Chosen] = {}
    for name, chosen in _takes({name: answers[name] for name in names if is_settled}).items():
        known = merged.get(chosen.bundle.name)
        merged[chosen.bundle.name] = chosen if known is None else replace(known, subscribers=(*known.subscribers, name))
    return Component(names, tuple(merged.values()), refusal, is_manual=any(one.is_manual for one in group))


def _reason(answer: _Answer) -> str:
    match answer:
        case _Keeps(reason):
            return reason
        case _Takes(chosen):
            instead = f" in place of {chosen.replaces}" if chosen.replaces else ""
            return f"{chosen.bundle.name} from channel {chosen.channel} of catalog {chosen.catalog.key}{instead}"
        case Refusal(_, message):
            return message
        case never:
            assert_never(never)


def _prevented(message: str) -> Refusal:
    return Refusal("ErrorPreventedResolution", message)


def _unsatisfiable(fact: str, subscriber: Subscriber) -> Refusal:
    return Refusal("ConstraintsNotSatisfiable", f"{_UNSATISFIABLE}{fact}, subscription {subscriber.name} exists")
