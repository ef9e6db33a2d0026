"""Sets and removes conditions of a Subscription, and detects whether anything changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.api.manifest import Manifest, ReadOnly, instant, timestamp

RESOLUTION_FAILED = "ResolutionFailed"
BUNDLE_UNPACKING = "BundleUnpacking"
BUNDLE_UNPACK_FAILED = "BundleUnpackFailed"
CATALOGS_UNHEALTHY = "CatalogSourcesUnhealthy"
PLAN_MISSING = "InstallPlanMissing"
PLAN_PENDING = "InstallPlanPending"
PLAN_FAILED = "InstallPlanFailed"
DEPRECATED = "Deprecated"
PACKAGE_DEPRECATED = "PackageDeprecated"
CHANNEL_DEPRECATED = "ChannelDeprecated"
BUNDLE_DEPRECATED = "BundleDeprecated"
CSV_MISSING = "InstalledCSVMissing"
"""Ours: the installed ClusterServiceVersion was deleted, and is not installed again by itself."""
BLOCKED = "Blocked"
"""Ours: the failed plan prevents every newer version, too, until it is deleted."""
STRANDED = "Stranded"
"""Ours: the channel does not have the installed version, and no update leads from that into the channel."""
HELD = "Held"
"""Ours: the annotation `olmf.io/hold` keeps the installed version."""
PINNED = "Pinned"
"""Ours: the annotation `olmf.io/version` does not accept a newer version that is available."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition, without its times."""

    type: str
    status: str
    reason: str = ""
    message: str = ""


def changed(
    status: ReadOnly, now: datetime, *, put: Iterable[Condition] = (), drop: Iterable[str] = (), **fields: object
) -> Manifest | None:
    """The status with conditions put and dropped and fields set (None removes one); None when nothing would change."""
    old: Sequence[Manifest] = status.get("conditions") or []
    kept = [condition for condition in old if condition.get("type") not in set(drop)]
    for wanted in put:
        kept = put_into(kept, wanted, now)
    new = {**{key: value for key, value in status.items() if key not in fields}, "conditions": kept}
    new.update({key: value for key, value in fields.items() if value is not None})
    if not kept:
        del new["conditions"]
    before = {key: value for key, value in status.items() if value not in ([], "")}
    after = {key: value for key, value in new.items() if value not in ([], "")}
    return None if after == before else {**new, "lastUpdated": timestamp(now)}


def put_into(conditions: Sequence[Manifest], wanted: Condition, now: datetime) -> list[Manifest]:
    """The list with the condition at its old index; unchanged when it has this content already."""
    stated = {"type": wanted.type, "status": wanted.status, "reason": wanted.reason, "message": wanted.message}
    shown = {key: value for key, value in stated.items() if value}
    for index, old in enumerate(conditions):
        if old.get("type") == wanted.type:
            if all((old.get(key) or "") == value for key, value in stated.items()):
                return list(conditions)
            has_flipped = old.get("status") != wanted.status
            since = None if has_flipped else old.get("lastTransitionTime")
            shown["lastTransitionTime"] = since or timestamp(now)
            return [*conditions[:index], shown, *conditions[index + 1 :]]
    return [*conditions, {**shown, "lastTransitionTime": timestamp(now)}]


def find(status: ReadOnly, kind: str) -> ReadOnly | None:
    """The condition of a type, or None."""
    return next((one for one in status.get("conditions") or () if one.get("type") == kind), None)


def since(status: ReadOnly, kind: str, now: datetime) -> datetime:
    """The `lastTransitionTime` of a condition; `now` when the condition does not exist."""
    return instant((find(status, kind) or {}).get("lastTransitionTime")) or now
