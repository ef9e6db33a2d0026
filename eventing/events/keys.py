"""Which refs a route runs its step for, by what an event says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from eventing.events import event as events
from eventing.events.event import Event
from eventing.events.job import to_outside
from shared import kinds, names
from shared.kinds import Kind, Ref

Key: TypeAlias = Callable[[Event], tuple[Ref, ...]]


def itself(event: Event) -> tuple[Ref, ...]:
    """The object of the event as the key."""
    return (event.ref,)


def its_namespace(event: Event) -> tuple[Ref, ...]:
    """The Namespace of the object as the key."""
    ref = kinds.NAMESPACE.ref_or_none(event.ref.namespace)
    return () if ref is None else (ref,)


def its_owner(*owning: Kind) -> Key:
    """The owners of those kinds that the event names as keys; no keys when the event names none."""
    by_name = {kind.kind: kind for kind in owning}

    def key(event: Event) -> tuple[Ref, ...]:
        owners = (one for one in events.Owner.split(event.hints.get(events.OWNERS, "")) if one.kind in by_name)
        found = (by_name[one.kind].ref_or_none(one.name, one.namespace or event.ref.namespace) for one in owners)
        return tuple(filter(None, found))

    return key


def its_catalog(event: Event) -> tuple[Ref, ...]:
    """The CatalogSource after which a NetworkPolicy is called, whoever owns it now."""
    name = event.ref.name.removesuffix(names.UNPACK_POLICY_SUFFIX)
    found = None if name == event.ref.name else kinds.CATALOG_SOURCE.ref_or_none(name, event.ref.namespace)
    return () if found is None else (found,)


def its_reporter(event: Event) -> tuple[Ref, ...]:
    """The CSVs whose OperatorConditions own the object: they have the same names."""
    return tuple(
        kinds.CLUSTER_SERVICE_VERSION.ref(ref.name, ref.namespace) for ref in its_owner(kinds.OPERATOR_CONDITION)(event)
    )


def its_operators(event: Event) -> tuple[Ref, ...]:
    """The Operators that the object is a component of, or was."""
    found = event.hints.get(events.COMPONENTS, "").split(",")
    return tuple(filter(None, map(kinds.OPERATOR.ref_or_none, filter(None, found))))


def its_api_group(event: Event) -> tuple[Ref, ...]:
    """One key for all definitions of an API group, which is a valid name: an operator brings many at once."""
    ref = kinds.CUSTOM_RESOURCE_DEFINITION.ref_or_none(event.ref.name.partition(".")[2])
    return () if ref is None else (ref,)


def permissions_in_namespace(event: Event) -> tuple[Ref, ...]:
    """One key for all RBAC objects of a namespace."""
    return (kinds.ROLE.ref(names.ANY, event.ref.namespace),)


def whole_cluster(_: Event) -> tuple[Ref, ...]:
    """One key for what looks at the whole cluster, whichever object the event names: the OLMConfig."""
    return (kinds.OLM_CONFIG.ref("cluster"),)


def our_deployment(name: str) -> Key:
    """A Deployment of ours, in the namespace that the event is about."""

    def key(event: Event) -> tuple[Ref, ...]:
        ref = kinds.DEPLOYMENT.ref_or_none(name, event.ref.name)
        return () if ref is None else (ref,)

    return key


def status_of_installation(_: Event) -> tuple[Ref, ...]:
    """The ClusterOperator by which an OpenShift learns of us."""
    return (kinds.CLUSTER_OPERATOR.ref(names.CLUSTER_OPERATOR),)


def cluster_permissions(_: Event) -> tuple[Ref, ...]:
    """One key for all RBAC objects of the cluster that are in no namespace."""
    return (kinds.CLUSTER_ROLE.ref(names.ANY),)


def itself_outside(event: Event) -> tuple[Ref, ...]:
    """The object, as jobs for the sink name it."""
    return (to_outside(event.ref),)
