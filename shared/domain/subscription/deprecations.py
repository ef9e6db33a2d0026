"""The conditions of a Subscription about deprecations of its package, channel and bundle (catalog.md §3.8)."""

from __future__ import annotations

from shared.api.manifest import ReadOnly
from shared.domain.catalog.model import Package
from shared.domain.conditions import Condition
from shared.domain.subscription.conditions import BUNDLE_DEPRECATED, CHANNEL_DEPRECATED, DEPRECATED, PACKAGE_DEPRECATED

CONDITIONS = (PACKAGE_DEPRECATED, CHANNEL_DEPRECATED, BUNDLE_DEPRECATED, DEPRECATED)


def conditions(subscription: ReadOnly, installed_csv: str, package: Package) -> tuple[Condition, ...] | None:
    """The conditions that the catalog demands; None when it does not contain the installed version: change nothing."""
    channel = str((subscription.get("spec") or {}).get("channel") or "")
    entries = {entry.name for one in package.channels if channel in ("", one.name) for entry in one.entries}
    if installed_csv not in entries:
        return None
    levels = (
        (PACKAGE_DEPRECATED, "package", f"olm.package/{package.name}"),
        (CHANNEL_DEPRECATED, f"channel/{channel}", f"olm.channel/{channel}"),
        (BUNDLE_DEPRECATED, f"bundle/{installed_csv}", f"olm.bundle/{installed_csv}"),
    )
    found = [
        Condition(kind, "True", message=f"{subject}: {text}")
        for kind, key, subject in levels
        if (text := package.deprecations.get(key))
    ]
    if not found:
        return ()
    return (*found, Condition(DEPRECATED, "True", message="; ".join(one.message for one in found)))
