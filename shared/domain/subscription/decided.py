"""The conditions of a Subscription about what was decided for it: that it gets nothing, or can get nothing further."""

from __future__ import annotations

from datetime import datetime

from shared.api.manifest import Manifest, ReadOnly, name_of
from shared.domain.conditions import Condition
from shared.domain.resolver.model import Component
from shared.domain.subscription.conditions import RESOLUTION_FAILED, STRANDED, changed


def decided(subscription: ReadOnly, component: Component, message: str, now: datetime) -> Manifest | None:
    """The status with `ResolutionFailed` (with that message), `Stranded` or none; None when it would not change."""
    put = []
    if component.refusal:
        put.append(Condition(RESOLUTION_FAILED, "True", component.refusal.reason, message))
    if end := (component.dead_ends or {}).get(name_of(subscription)):
        put.append(Condition(STRANDED, "True", "NotInChannel", end))
    known = {RESOLUTION_FAILED} if component.dead_ends is None else {RESOLUTION_FAILED, STRANDED}
    gone = known - {one.type for one in put}
    return changed(subscription.get("status") or {}, now, put=put, drop=gone)
