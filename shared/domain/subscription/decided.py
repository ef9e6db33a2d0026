"""The conditions of a Subscription about what was decided for it: that it gets nothing, or can get nothing further."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from shared.api.manifest import Manifest
from shared.api.views import Subscription
from shared.domain.conditions import Condition
from shared.domain.resolver.model import Component, Resolution, Subscriber
from shared.domain.statement import Code, Statement
from shared.domain.subscription.conditions import RESOLUTION_FAILED, STRANDED, changed
from shared.kinds import CLUSTER_SERVICE_VERSION, SUBSCRIPTION


def decided(subscription: Subscription, component: Component, message: str, now: datetime) -> Manifest | None:
    """The status with `ResolutionFailed` (with that message), `Stranded` or none; None when it would not change."""
    put = []
    if component.refusal:
        put.append(Condition(RESOLUTION_FAILED, "True", component.refusal.reason, message))
    if stay := (component.stays or {}).get(subscription.name):
        put.append(Condition(STRANDED, "True", stay.reason, stay.message))
    known = {RESOLUTION_FAILED} if component.stays is None else {RESOLUTION_FAILED, STRANDED}
    gone = known - {one.type for one in put}
    return changed(subscription.status, now, put=put, drop=gone)


def statements(namespace: str, subscribers: Iterable[Subscriber], resolution: Resolution) -> Iterator[Statement]:
    """What was decided for each Subscription; about it, the version that it has, and the one that it gets."""
    gets = {name: one.bundle.name for one in resolution.chosen for name in one.subscribers}
    has = {one.name: one.installed_csv for one in subscribers}
    for name, why in sorted(resolution.reasons.items()):
        component = resolution.component_of(name)
        refusal = component.refusal if component else None
        code = Code(refusal.reason) if refusal else Code.CHOSEN if name in gets else Code.UNCHANGED
        versions = dict.fromkeys(filter(None, (has.get(name), gets.get(name))))
        csvs = filter(None, (CLUSTER_SERVICE_VERSION.ref_or_none(one, namespace) for one in versions))
        yield Statement((SUBSCRIPTION.ref(name, namespace), *csvs), code, f"{name}: {why}")
