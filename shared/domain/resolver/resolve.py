"""The answer for a namespace: which bundles its Subscriptions get, with their dependencies, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from shared.domain.resolver.adoption import adopted
from shared.domain.resolver.candidates import AmbiguousInstallation
from shared.domain.resolver.conflict import conflict
from shared.domain.resolver.constraints import Id, Prohibited, of_subscription
from shared.domain.resolver.copies import occupied, way_out
from shared.domain.resolver.decide import Take, Verdict, Why, apart, as_one
from shared.domain.resolver.market import Market, Source
from shared.domain.resolver.model import (
    Catalog,
    Chosen,
    Component,
    Inputs,
    Refusal,
    Resolution,
    Subscriber,
    prevented,
    unreadable,
    unsatisfiable,
)
from shared.domain.resolver.operators import of_installed
from shared.domain.resolver.opt_in import IGNORE
from shared.domain.resolver.problem import existence, pose
from shared.domain.resolver.reach import dead_end
from shared.domain.resolver.reasons import Code, Reason, together


def resolve(inputs: Inputs, *, why: Why = conflict) -> Resolution:
    """The answer for a namespace. It depends on the inputs alone, and not on their order."""
    subscribers = sorted(inputs.subscribers, key=lambda one: one.name)
    if inputs.problem:
        return _of(_stopped(one, inputs.problem) for one in subscribers)
    if inputs.is_whole:
        return _whole(subscribers, inputs, why)
    stopped = {one.name: found for one in subscribers if (found := set_aside(one, inputs)) is not None}
    inputs, adoptions = adopted(inputs)
    market = market_of(inputs)
    try:
        problem = pose(market, [one for one in inputs.subscribers if one.name not in stopped])
    except AmbiguousInstallation as error:
        return _of([_ambiguous(subscribers, error)])
    decided = [_component(verdict, inputs, market, adoptions) for verdict in apart(problem, why)]
    return _of([*(each for each in decided if each.subscribers), *stopped.values()])


def market_of(inputs: Inputs) -> Market:
    """The operators that the namespace may choose from."""
    sources = [Source(key, shelf, inputs.catalogs[key].priority) for key, shelf in inputs.shelves.items()]
    installed = [of_installed(one, inputs.namespace) for one in sorted(inputs.installed, key=lambda one: one.name)]
    return Market(inputs.namespace, sources, installed, is_whole=inputs.is_whole)


def _of(components: Iterable[Component]) -> Resolution:
    ordered = tuple(sorted(components, key=lambda one: one.subscribers))
    return Resolution(ordered, {name: why for one in ordered for name, why in one.reasons.items()})


def _whole(subscribers: Sequence[Subscriber], inputs: Inputs, why: Why) -> Resolution:
    """OLM's scope: one verdict, and any catalog that cannot be read prevents it (resolver.md §9.2)."""
    names = tuple(one.name for one in subscribers)
    resting = {one.name: found for one in subscribers if (found := set_aside(one, inputs)) is not None}
    if wrong := together(one.refusal.why for one in resting.values() if one.refusal):
        return _of([_prevented(names, wrong)])
    if unread := _unread(inputs):
        return _of([Component(names, reasons=dict.fromkeys(names, unread))])
    market = market_of(inputs)
    try:
        problem = pose(market, [one for one in subscribers if one.name not in resting])
    except AmbiguousInstallation as error:
        return _of([_ambiguous(subscribers, error)])
    sick = () if problem.is_about_installed else _sick(inputs)
    if wrong := together(sick) or together(problem.errors):
        return _of([_prevented(names, wrong)])
    component = _component(as_one(problem, market, why), inputs, market, {})
    kept = {name: why for one in resting.values() for name, why in one.reasons.items()}
    return _of([replace(component, subscribers=names, reasons={**kept, **component.reasons})])


def _sick(inputs: Inputs) -> Iterator[Reason]:
    for key, catalog in sorted(inputs.catalogs.items()):
        if (not catalog.reference and catalog.problem) or (inputs.is_strict and catalog.is_stale):
            yield unreadable(key, catalog.problem)


def _unread(inputs: Inputs) -> str:
    """A sentence about the first catalog that was not read yet; empty when all were."""
    return min((_not_yet(catalog) for catalog in inputs.catalogs.values() if _is_unread(catalog)), default="")


def _not_yet(catalog: Catalog) -> str:
    return f"catalog {catalog.key} has not been read yet"


def _is_unread(catalog: Catalog) -> bool:
    return not catalog.reference and not catalog.problem


def set_aside(subscriber: Subscriber, inputs: Inputs) -> Component | None:
    """The component of a Subscription that cannot be decided: its annotations, or its catalog, cannot be read."""
    if problem := subscriber.opt_in.problem():
        return _stopped(subscriber, Reason(Code.ANNOTATION_INVALID, problem))
    return None if inputs.is_whole else _unreadable(subscriber, inputs)


def _unreadable(subscriber: Subscriber, inputs: Inputs) -> Component | None:
    """The component of a Subscription whose catalog, or package there, cannot be read."""
    if inputs.is_strict and (unread := _unread(inputs)):
        return _waiting(subscriber, unread)
    if inputs.is_strict and (error := together(_sick(inputs))):
        return _stopped(subscriber, error)
    catalog = inputs.catalogs.get(subscriber.catalog)
    if catalog is None:
        return None
    if _is_unread(catalog):
        return _waiting(subscriber, _not_yet(catalog))
    shelf = inputs.shelves.get(subscriber.catalog)
    problem = catalog.problem if shelf is None else _problem_of(subscriber, inputs)
    return _stopped(subscriber, unreadable(catalog.key, problem)) if problem else None


def _problem_of(subscriber: Subscriber, inputs: Inputs) -> str:
    shelf = inputs.shelves[subscriber.catalog]
    return "" if shelf.package(subscriber.package) else shelf.problem(subscriber.package)


def _stopped(subscriber: Subscriber, problem: Reason) -> Component:
    return _waiting(subscriber) if subscriber.waits else _prevented((subscriber.name,), problem)


def _waiting(subscriber: Subscriber, why: str = "") -> Component:
    return Component((subscriber.name,), reasons={subscriber.name: subscriber.waits or why})


def _ambiguous(subscribers: Iterable[Subscriber], error: AmbiguousInstallation) -> Component:
    return _prevented(tuple(one.name for one in subscribers), Reason(Code.PREVENTED, str(error)))


def _prevented(names: tuple[str, ...], problem: Reason) -> Component:
    return Component(names, refusal=prevented(problem), reasons=dict.fromkeys(names, problem.text))


def _component(verdict: Verdict, inputs: Inputs, market: Market, adoptions: Mapping[str, Chosen]) -> Component:
    """The component that a verdict makes of its Subscriptions."""
    ids = {one.id for one in verdict.variables}
    members = [one for one in sorted(inputs.subscribers, key=lambda one: one.name) if of_subscription(one.name) in ids]
    names, is_manual = tuple(one.name for one in members), any(one.is_manual for one in members)
    waits = {one.name: one.waits for one in members if one.waits}
    if waits and not inputs.is_whole:
        others = f"waits for {', '.join(waits)}"
        return Component(names, is_manual=is_manual, reasons={name: waits.get(name, others) for name in names})
    if why := _too_early(verdict, members, inputs):
        return Component(names, is_manual=is_manual, reasons=dict.fromkeys(names, why))
    if refusal := _refusal(verdict, names, inputs):
        return Component(names, refusal=refusal, is_manual=is_manual, reasons=dict.fromkeys(names, refusal.message))
    chosen = [_chosen(take, members, inputs) for take in verdict.takes]
    moved = {name for one in chosen for name in one.subscribers}
    chosen += [adoptions[name] for name in names if name in adoptions and name not in moved]
    if stuck := _given_up(chosen, members):
        return Component(names, is_manual=is_manual, reasons=dict.fromkeys(names, stuck))
    going = tuple(one for one in chosen if not one.subscribers or set(one.subscribers) - waits.keys())
    ends = {one.name: end for one in members if _stays(one, chosen) and (end := dead_end(one, market))}
    reasons = {
        one.name: waits.get(one.name) or (ends.get(one.name) or _reason(one, chosen)) + _besides(one, inputs)
        for one in members
    }
    return Component(names, going, is_manual=is_manual, reasons=reasons, dead_ends=ends)


def _too_early(verdict: Verdict, members: Iterable[Subscriber], inputs: Inputs) -> str:
    """Why to wait: a conflict, or a dependency, may change with a catalog that was not read yet. Empty: no need."""
    is_open = verdict.refusal or any(not any(_asks_for(one, take) for one in members) for take in verdict.takes)
    return _unread(inputs) if is_open else ""


def _refusal(verdict: Verdict, subscribers: Iterable[str], inputs: Inputs) -> Refusal | None:
    for take in verdict.takes:  # a copied CSV has that name, so the CSV cannot be created
        name = take.operator.name
        if name in inputs.copies:
            home = inputs.copies[name]
            taken = Prohibited(Id(take.operator.id), occupied(name, home), Code.NAME_TAKEN)
            return unsatisfiable([taken, *map(existence, subscribers)], way_out(home))
    return verdict.refusal


def _given_up(chosen: Iterable[Chosen], members: Iterable[Subscriber]) -> str:
    """Why to wait: a version whose InstallPlan failed is not tried again, until a newer one can replace it."""
    failed = {one.failed_csv for one in members if one.failed_csv}
    names = [one.bundle.name for one in chosen if one.bundle.name in failed]
    return f"the InstallPlan of {names[0]} failed, and nothing in its channel passes it yet" if names else ""


def _chosen(take: Take, members: Iterable[Subscriber], inputs: Inputs) -> Chosen:
    one = take.operator
    asked = (each.name for each in members if _asks_for(each, take))
    return Chosen(take.bundle, one.package, one.channel, inputs.catalogs[one.catalog], take.replaces, tuple(asked))


def _asks_for(subscriber: Subscriber, take: Take) -> bool:
    """Whether the chosen operator is what the Subscription asks for (resolver.md §10.2)."""
    one = take.operator
    wish = (subscriber.package, subscriber.catalog)
    return wish == (one.package, one.catalog) and subscriber.follows(one.channel)


def _stays(subscriber: Subscriber, chosen: Iterable[Chosen]) -> bool:
    """Whether the Subscription keeps its installed version although nobody holds that."""
    is_free = bool(subscriber.installed_csv) and not (subscriber.waits or subscriber.opt_in.why_held)
    return is_free and not any(subscriber.name in one.subscribers for one in chosen)


def _reason(subscriber: Subscriber, chosen: Iterable[Chosen]) -> str:
    for one in chosen:
        if subscriber.name in one.subscribers:
            instead = f" in place of {subscriber.installed_csv}" if subscriber.installed_csv else ""
            alone = "; what it needs is ignored" if subscriber.opt_in.dependencies == IGNORE else ""
            return f"{one.bundle.name} from channel {one.channel} of catalog {one.catalog.key}{instead}{alone}"
    wish, installed = subscriber.opt_in, subscriber.installed_csv
    if wish.why_held:
        return f"{installed or 'nothing yet'} is held: {wish.why_held}"
    what = f"nothing in its channel that version {wish.version} accepts" if wish.version else "nothing in its channel"
    return f"{installed} is installed, and {what} replaces it"


def _besides(subscriber: Subscriber, inputs: Inputs) -> str:
    """What else is to be said: that a catalog is old, and an annotation unknown."""
    catalog = inputs.catalogs.get(subscriber.catalog)
    is_stale = catalog is not None and catalog.is_stale
    age = f"; catalog {subscriber.catalog} cannot be read now, its last content counts" if is_stale else ""
    return age + (f"; {subscriber.unknown}" if subscriber.unknown else "")
