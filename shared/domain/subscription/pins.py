"""The condition of a Subscription that is pinned to a version or a range and so skips a newer version."""

from __future__ import annotations

from shared.api.manifest import ReadOnly
from shared.domain.catalog.graph import heads
from shared.domain.catalog.model import Package
from shared.domain.conditions import Condition
from shared.domain.resolver.opt_in import opt_in_of
from shared.domain.semver import version_or_none
from shared.domain.subscription.conditions import PINNED


def conditions(subscription: ReadOnly, installed_csv: str, package: Package) -> tuple[Condition, ...]:
    """`Pinned`, when the channel has a newer version that the annotation does not accept."""
    wish, channel = opt_in_of(subscription), str((subscription.get("spec") or {}).get("channel") or "")
    bundles = {name: version_or_none(bundle.version) for name, bundle in package.bundles.items()}
    version = bundles.get(installed_csv)
    if not wish.version or version is None:
        return ()
    followed = (entry.name for one in package.channels if channel in ("", one.name) for entry in heads(one))
    offered = ((found, name) for name in followed if (found := bundles.get(name)) is not None)
    passed = [(found, name) for found, name in offered if found > version and not wish.accepts(name, found)]
    if not passed:
        return ()
    _, newest = max(passed)
    return (Condition(PINNED, "True", "PinnedByAnnotation", f"pinned to {wish.version}; {newest} is there"),)
