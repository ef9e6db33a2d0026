"""The conditions of a Subscription, and its status when they change."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly, timestamp
from shared.api.views import StoredCondition
from shared.domain.conditions import Condition, put_into

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
DEPRECATIONS = (PACKAGE_DEPRECATED, CHANNEL_DEPRECATED, BUNDLE_DEPRECATED)
"""The parts of `Deprecated`."""
CSV_MISSING = "InstalledCSVMissing"
"""Ours: the installed ClusterServiceVersion was deleted, and is not installed again by itself."""
BLOCKED = "Blocked"
"""Ours: the failed plan prevents every newer version, too, until it is deleted."""
STRANDED = "Stranded"
"""Ours: no update leads from the installed version into the channel, or those that do cannot be installed."""
HELD = "Held"
"""Ours: the annotation `olmf.io/hold` keeps the installed version."""
PINNED = "Pinned"
"""Ours: the annotation `olmf.io/version` does not accept a newer version that is available."""


def changed(
    status: ReadOnly, now: datetime, *, put: Iterable[Condition] = (), drop: Iterable[str] = (), **values: object
) -> Manifest | None:
    """The status with conditions put and dropped and fields set (None removes one); None when nothing would change."""
    old, gone = StoredCondition.each(fields.parts(status, "conditions")), set(drop)
    kept = [one.raw for one in old if one.type not in gone]
    for desired in put:
        kept = put_into(kept, desired, now)
    new = {**{key: value for key, value in status.items() if key not in values}, "conditions": kept}
    new.update({key: value for key, value in values.items() if value is not None})
    if not kept:
        del new["conditions"]
    before = {key: value for key, value in status.items() if value not in ([], "")}
    after = {key: value for key, value in new.items() if value not in ([], "")}
    return None if after == before else {**new, "lastUpdated": timestamp(now)}
