"""Which events a route is about: predicates that compose."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from eventing.events import event as events
from eventing.events.event import Event, Owner
from shared.domain.endpoints.sharing import service_behind
from shared.kinds import NAMESPACE, Kind

Predicate: TypeAlias = Callable[[Event], bool]


def always(_: Event) -> bool:
    """Any event."""
    return True


def gone(event: Event) -> bool:
    """The object was deleted."""
    return event.type.endswith(".delete")


def present(event: Event) -> bool:
    """The object was added or changed."""
    return not gone(event)


def edited(event: Event) -> bool:
    """The object was changed or deleted; one that was just created needs no repair."""
    return not event.type.endswith(".add")


def came_or_went(event: Event) -> bool:
    """The object was added or deleted."""
    return not event.type.endswith(".update")


def hint(name: str, *values: str) -> Predicate:
    """The hint has one of the values, or is absent."""
    return lambda event: event.hints.get(name, values[0]) in values


def unsaid(name: str) -> Predicate:
    """The event does not have the hint, so a step has to read the object."""
    return lambda event: name not in event.hints


def unowned(event: Event) -> bool:
    """The event names no owner of the object: there is none, or the sender does not say."""
    return not event.hints.get(events.OWNERS)


def owned_by(kind: Kind) -> Predicate:
    """The event names an owner of that kind."""
    return lambda event: any(one.kind == kind.kind for one in Owner.split(event.hints.get(events.OWNERS, "")))


def unlike(predicate: Predicate) -> Predicate:
    """The predicate does not hold."""
    return lambda event: not predicate(event)


def named(name: str) -> Predicate:
    """The object has that name."""
    return lambda event: event.ref.name == name


def of_servers(event: Event) -> bool:
    """The object is a binding that operators share which serve for the API server."""
    return bool(service_behind(event.ref.name))


def both(*predicates: Predicate) -> Predicate:
    """All predicates hold."""
    return lambda event: all(predicate(event) for predicate in predicates)


def either(*predicates: Predicate) -> Predicate:
    """One of the predicates holds."""
    return lambda event: any(predicate(event) for predicate in predicates)


def phase(*values: str) -> Predicate:
    """A present, original (not copied) CSV in one of the phases."""
    return both(present, original, hint(events.PHASE, *values))


original = hint(events.COPIED, "false")
a_copy = both(lambda event: events.COPIED in event.hints, hint(events.COPIED, "true"))
unpacks = hint(events.UNPACK, "true")
no_bundle = hint(events.UNPACK, "false")
beyond_progress = either(came_or_went, hint(events.PHASE, ""))  # its status does not only say how far a pull is
limited = hint(events.LIMITED, "true")
automatic = both(lambda event: events.AUTOMATIC in event.hints, hint(events.AUTOMATIC, "true"))
over = either(gone, hint(events.PHASE, events.OVER))


def needs_no_repetition(event: Event) -> bool:
    """Whether nothing is lost when an event about the same version of the object is left out (`wiring.watcher`).

    A watcher that starts makes an event of each object that there is. Namespaces and copied CSVs are many, and what was
    missed about one is found by the steps of the OperatorGroups and originals, whose events come again, too.
    """
    is_namespace = (event.ref.api_version, event.ref.kind) == (NAMESPACE.api_version, NAMESPACE.kind)
    return present(event) and (is_namespace or a_copy(event))
