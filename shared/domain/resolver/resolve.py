"""The resolution of a namespace: which bundles its Subscriptions get, with their dependencies, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from shared.domain.resolver.conflict import conflict
from shared.domain.resolver.constraints import Id, Prohibited, of_subscription
from shared.domain.resolver.copies import fix_text, occupied, serving
from shared.domain.resolver.decide import NewOperator, Solution, Why, apart, as_one
from shared.domain.resolver.model import (
    NOT_IN_CHANNEL,
    NOT_INSTALLABLE,
    Chosen,
    Component,
    Inputs,
    Refusal,
    Resolution,
    Stay,
    Subscriber,
    unsatisfiable,
)
from shared.domain.resolver.reach import dead_end
from shared.domain.resolver.reasons import Code, together
from shared.domain.resolver.request import ResolutionRequest, prevented_for, sick, stopped, unread
from shared.domain.resolver.solver_input import existence
from shared.domain.resolver.subscription_policy import IGNORE


def resolve(inputs: Inputs, *, why: Why = conflict) -> Resolution:
    """The resolution of a namespace. It depends on the inputs alone, and not on their order."""
    return resolution_of(ResolutionRequest(inputs), why=why)


def resolution_of(request: ResolutionRequest, *, why: Why = conflict) -> Resolution:
    """The resolution of a request."""
    inputs = request.asked
    if inputs.problem:
        return _of(stopped(one, inputs.problem) for one in _by_name(inputs))
    if inputs.is_whole:
        return _whole(request, why)
    if error := request.solver_input.ambiguity:
        return _of([prevented_for(_names(inputs), error)])
    subscribers = _by_variable(request.inputs)
    solutions = apart(request.solver_input, why)
    components = [_component(solution, _members(solution, subscribers), request) for solution in solutions]
    return _of([*(one for one in components if one.subscribers), *request.aside.values()])


def _of(components: Iterable[Component]) -> Resolution:
    ordered = tuple(sorted(components, key=lambda one: one.subscribers))
    return Resolution(ordered, {name: why for one in ordered for name, why in one.reasons.items()})


def _by_name(inputs: Inputs) -> list[Subscriber]:
    return sorted(inputs.subscribers, key=lambda one: one.name)


def _names(inputs: Inputs) -> tuple[str, ...]:
    return tuple(one.name for one in _by_name(inputs))


def _by_variable(inputs: Inputs) -> Mapping[Id, Sequence[Subscriber]]:
    """The Subscriptions that variables stand for; a fix that is tried may have two of one name."""
    found: dict[Id, list[Subscriber]] = {}
    for one in inputs.subscribers:
        found.setdefault(of_subscription(one.name), []).append(one)
    return found


def _members(solution: Solution, subscribers: Mapping[Id, Sequence[Subscriber]]) -> list[Subscriber]:
    """The Subscriptions that a solution is about, by name as its variables are."""
    ids = dict.fromkeys(one.id for one in solution.variables)
    return [each for one in ids for each in subscribers.get(one, ())]


def _whole(request: ResolutionRequest, why: Why) -> Resolution:
    """OLM's scope: one solution, and any catalog that cannot be read prevents it (resolver.md §9.2)."""
    inputs, names = request.asked, _names(request.asked)
    if wrong := together(one.refusal.why for _, one in sorted(request.aside.items()) if one.refusal):
        return _of([prevented_for(names, wrong)])
    if why_not := unread(inputs):
        return _of([Component(names, reasons=dict.fromkeys(names, why_not))])
    solver_input = request.solver_input
    if solver_input.ambiguity:
        return _of([prevented_for(names, solver_input.ambiguity)])
    unwell = () if solver_input.is_about_installed else sick(inputs)
    if wrong := together(unwell) or together(solver_input.errors):
        return _of([prevented_for(names, wrong)])
    solution = as_one(solver_input, request.cache, why)
    component = _component(solution, _members(solution, _by_variable(inputs)), request)
    kept = {name: why for one in request.aside.values() for name, why in one.reasons.items()}
    return _of([replace(component, subscribers=names, reasons={**kept, **component.reasons})])


def _component(solution: Solution, members: Sequence[Subscriber], request: ResolutionRequest) -> Component:
    """The component that a solution makes of its Subscriptions."""
    inputs, adoptions = request.inputs, request.adoptions
    names, is_manual = tuple(one.name for one in members), any(one.is_manual for one in members)
    waits = {one.name: one.waits for one in members if one.waits}
    if waits and not inputs.is_whole:
        others = f"waits for {', '.join(waits)}"
        return Component(names, is_manual=is_manual, reasons={name: waits.get(name, others) for name in names})
    if why := _too_early(solution, members, inputs):
        return Component(names, is_manual=is_manual, reasons=dict.fromkeys(names, why))
    if refusal := _refusal(solution, members, inputs):
        return Component(names, refusal=refusal, is_manual=is_manual, reasons=dict.fromkeys(names, refusal.message))
    served = _served(solution, members, inputs)
    chosen = [_chosen(take, members, inputs) for take in solution.new_operators if take.operator.name not in served]
    moved = {name for one in chosen for name in one.subscribers}
    chosen += [adoptions[name] for name in names if name in adoptions and name not in moved]
    if stuck := _given_up(chosen, members):
        return Component(names, is_manual=is_manual, reasons=dict.fromkeys(names, stuck))
    going = tuple(one for one in chosen if not one.subscribers or set(one.subscribers) - waits.keys())
    stays = {one.name: stay for one in members if (stay := _stay(one, chosen, request))}
    reasons = {
        one.name: waits.get(one.name) or _reason(one, chosen, stays.get(one.name)) + _besides(one, served, inputs)
        for one in members
    }
    is_open = unread(inputs) and any(one.reason == NOT_INSTALLABLE for one in stays.values())
    return Component(names, going, is_manual=is_manual, reasons=reasons, stays=None if is_open else stays)


def _too_early(solution: Solution, members: Iterable[Subscriber], inputs: Inputs) -> str:
    """Why to wait: a conflict, or a dependency, may change with a catalog that was not read yet. Empty: no need."""
    is_open = solution.refusal or not all(_is_asked_for(take, members) for take in solution.new_operators)
    return unread(inputs) if is_open else ""


def _refusal(solution: Solution, members: Sequence[Subscriber], inputs: Inputs) -> Refusal | None:
    for take in solution.new_operators:  # a copied CSV has that name, so the CSV cannot be created
        name = take.operator.name
        if name in inputs.copies and _is_asked_for(take, members):
            origin = inputs.copies[name]
            taken = Prohibited(Id(take.operator.id), occupied(name, origin), Code.NAME_TAKEN)
            return unsatisfiable([taken, *(existence(one.name) for one in members)], fix_text(origin))
    return solution.refusal


def _served(solution: Solution, members: Sequence[Subscriber], inputs: Inputs) -> Mapping[str, str]:
    """The dependencies that serve the namespace already, by name, and from where: what needs them has them."""
    dependencies = (take.operator.name for take in solution.new_operators if not _is_asked_for(take, members))
    return {name: inputs.copies[name] for name in dependencies if name in inputs.copies}


def _given_up(chosen: Iterable[Chosen], members: Iterable[Subscriber]) -> str:
    """Why to wait: a version whose InstallPlan failed is not tried again, until a newer one can replace it."""
    failed = {one.failed_csv for one in members if one.failed_csv}
    names = [one.bundle.name for one in chosen if one.bundle.name in failed]
    return f"the InstallPlan of {names[0]} failed, and nothing in its channel passes it yet" if names else ""


def _chosen(take: NewOperator, members: Iterable[Subscriber], inputs: Inputs) -> Chosen:
    one = take.operator
    asked = (each.name for each in members if _asks_for(each, take))
    return Chosen(take.bundle, one.package, one.channel, inputs.catalogs[one.catalog], take.replaces, tuple(asked))


def _asks_for(subscriber: Subscriber, take: NewOperator) -> bool:
    """Whether the chosen operator is what the Subscription asks for (resolver.md §10.2)."""
    one = take.operator
    policy = (subscriber.package, subscriber.catalog)
    return policy == (one.package, one.catalog) and subscriber.follows(one.channel)


def _is_asked_for(take: NewOperator, members: Iterable[Subscriber]) -> bool:
    """Whether the chosen operator is more than a dependency."""
    return any(_asks_for(one, take) for one in members)


def _stay(subscriber: Subscriber, chosen: Iterable[Chosen], request: ResolutionRequest) -> Stay | None:
    """Why the Subscription keeps its installed version although nobody holds that, and others are offered."""
    is_free = bool(subscriber.installed_csv) and not (subscriber.waits or subscriber.policy.why_held)
    if not is_free or any(subscriber.name in one.subscribers for one in chosen):
        return None
    if end := dead_end(subscriber, request.cache):
        return Stay(NOT_IN_CHANNEL, end)
    offered = request.asked_for[subscriber.name].operators
    for one in offered:
        if subscriber.policy.accepts(one.name, one.version):
            what = f"{one.name}, which would replace it, cannot be installed now"
            return Stay(NOT_INSTALLABLE, f"{subscriber.installed_csv} is installed, and {what}")
    return None


def _reason(subscriber: Subscriber, chosen: Iterable[Chosen], stay: Stay | None) -> str:
    for one in chosen:
        if subscriber.name in one.subscribers:
            instead = f" in place of {subscriber.installed_csv}" if subscriber.installed_csv else ""
            alone = "; what it needs is ignored" if subscriber.policy.dependencies == IGNORE else ""
            return f"{one.bundle.name} from channel {one.channel} of catalog {one.catalog.key}{instead}{alone}"
    policy, installed = subscriber.policy, subscriber.installed_csv
    if policy.why_held:
        return f"{installed or 'nothing yet'} is held: {policy.why_held}"
    if stay:
        return stay.message
    what = "nothing in its channel" + (f" that version {policy.version} accepts" if policy.version else "")
    return f"{installed} is installed, and {what} replaces it"


def _besides(subscriber: Subscriber, served: Mapping[str, str], inputs: Inputs) -> str:
    """What else is to be said: what is served from elsewhere, that a catalog is old, and an annotation unknown."""
    catalog = inputs.catalogs.get(subscriber.catalog)
    is_stale = catalog is not None and catalog.is_stale
    age = f"; catalog {subscriber.catalog} cannot be read now, its last content counts" if is_stale else ""
    elsewhere = "".join(f"; {serving(*one)}" for one in sorted(served.items()))
    return elsewhere + age + (f"; {subscriber.unknown}" if subscriber.unknown else "")
