"""Resolve the Subscriptions of a namespace, and report on each one that cannot be resolved why not.

Reads:  Subscriptions, ClusterServiceVersions and OperatorGroups of the Namespace; the catalogs it may use.
Writes: the conditions `ResolutionFailed` and `Stranded` of its Subscriptions, and an Event on the Namespace.
Emits:  `io.olmf.resolution.computed` when there is something to install; `io.olmf.subscription.outdated` for each
        Subscription whose failed plan can now be skipped, or no longer can.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from shared import kinds, names
from shared.api.views import OperatorGroup
from shared.domain.resolver.explain.findings import sentences
from shared.domain.resolver.explain.fixes import findings
from shared.domain.resolver.model import Resolution
from shared.domain.resolver.request import ResolutionRequest, memoized
from shared.domain.resolver.resolve import resolution_of
from shared.domain.subscription.conditions import RESOLUTION_FAILED
from shared.domain.subscription.decided import decided, statements
from shared.domain.subscription.state import has_failed_plan, unjudged
from shared.domain.unpack.report import has_unpack_condition, is_just_begun
from shared.ports import Catalogs, Clock, Cluster, Policy
from shared.reading.namespace import NamespaceSnapshot, read_namespace
from shared.step import Emit, Outcome, Record, Ref, SetStatus, Wait, Write

_RETRY = timedelta(seconds=30)


def resolve_subscriptions(ref: Ref, cluster: Cluster, catalogs: Catalogs, clock: Clock, policy: Policy) -> Outcome:
    """Write `ResolutionFailed` and `Stranded` of the Subscriptions of one namespace (key: the Namespace)."""
    now = clock.now()
    snapshot = read_namespace(cluster, catalogs, ref.name, policy, is_resting=lambda one: is_just_begun(one, now))
    asked = ResolutionRequest(memoized(snapshot.inputs))
    resolution = resolution_of(asked)
    failed, groups = [one for one in snapshot.subscriptions if has_failed_plan(one)], snapshot.groups
    if failed and not groups:
        groups = OperatorGroup.each(cluster.list(kinds.OPERATOR_GROUP, ref.name))
    is_stale = resolution.components and any(has_unpack_condition(one) for one in snapshot.subscriptions)
    computed = (Emit(names.RESOLUTION_COMPUTED, ref),) if resolution.chosen or is_stale else ()
    emits = (*computed, *(Emit(names.SUBSCRIPTION_OUTDATED, Ref.of(one)) for one in unjudged(failed, groups)))
    return Outcome(
        tuple(_status_writes(ref, snapshot, resolution, sentences(resolution, findings(asked, resolution)), now=now)),
        emits,
        again_in=_RETRY if snapshot.is_partial else None,
        wait=_wait(snapshot, resolution, now),
        statements=tuple(statements(ref.name, snapshot.inputs.subscribers, resolution)),
        # None while something goes on, and where anything might help.
        read_set=None if emits or resolution.refused else snapshot.read_set(policy),
    )


def _wait(snapshot: NamespaceSnapshot, resolution: Resolution, now: datetime) -> Wait | None:
    """The reason of the first Subscription that cannot be resolved, and since when."""
    for subscription in snapshot.subscriptions:
        component = resolution.component_of(subscription.name)
        if component is not None and component.refusal is not None:
            begun = subscription.condition(RESOLUTION_FAILED).since or now
            what = f"{subscription.name}: {component.refusal.message}"
            return Wait(what, begun, about=(Ref.of(subscription),))
    return None


def _status_writes(
    namespace: Ref, snapshot: NamespaceSnapshot, resolution: Resolution, messages: Mapping[str, str], *, now: datetime
) -> Iterator[Write]:
    """The condition of each Subscription: the failure of its own component, or none."""
    recorded: set[str] = set()
    for subscription in snapshot.subscriptions:
        component = resolution.component_of(subscription.name)
        if component is None:
            continue
        message = messages.get(subscription.name, "")
        if status := decided(subscription, component, message, now):
            yield SetStatus(Ref.of(subscription), status, subscription.resource_version)
            if component.refusal and message not in recorded:
                recorded.add(message)
                yield Record(namespace, "Warning", "ResolutionFailed", message)
