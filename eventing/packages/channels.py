"""Moves a package to another channel, as far as its catalog has one of that name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventing.packages.listing import package_of
from eventing.packages.requests import PackageError, wanted_subscription
from shared.api.manifest import ReadOnly, name_of
from shared.domain.catalog.graph import successors
from shared.domain.semver import InvalidRange, InvalidVersion, in_range
from shared.kinds import CLUSTER_SERVICE_VERSION, SUBSCRIPTION

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient
    from shared.domain.catalog.model import Channel, Entry
    from shared.ports import Catalogs


def switch_channel(
    cluster: KubeClient, namespace: str, package: str, channel: str, *, catalogs: Catalogs | None = None
) -> str:
    """Subscribe to another channel; the version that it leads away from, empty when it leads nowhere.

    PackageError when the catalog has no such channel; one that cannot be read is not asked.
    """
    subscription = wanted_subscription(cluster, namespace, package)
    found = package_of(cluster, subscription, catalogs)
    channels = {one.name: one for one in found.channels} if found else {}
    if found and channel not in channels:
        raise PackageError(
            f"{found.name} has no channel {channel!r} in the catalog; its channels: {', '.join(sorted(channels))}"
        )
    cluster.merge(SUBSCRIPTION.ref(name_of(subscription), namespace), {"spec": {"channel": channel}})
    return _leaving(cluster, namespace, subscription, channels[channel]) if found else ""


def _leaving(cluster: KubeClient, namespace: str, subscription: ReadOnly, channel: Channel) -> str:
    name = str((subscription.get("status") or {}).get("installedCSV") or "")
    csv = cluster.get(CLUSTER_SERVICE_VERSION.ref(name, namespace)) if name else None
    version = str(((csv or {}).get("spec") or {}).get("version") or "")
    leads = csv and (successors(channel, name) or any(_is_skipped(entry, version) for entry in channel.entries))
    return name if leads else ""


def _is_skipped(entry: Entry, version: str) -> bool:
    try:
        return bool(entry.skip_range) and in_range(version, entry.skip_range)
    except (InvalidRange, InvalidVersion):
        return False  # a skip range that cannot be read counts as none
