"""Moves a package to another channel, as far as its catalog has one of that name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventing.packages.listing import package_of
from eventing.packages.requests import PackageError, wanted_subscription
from shared.api.manifest import ReadOnly, name_of
from shared.domain.resolver.model import Installed
from shared.domain.resolver.pool import updates
from shared.kinds import CLUSTER_SERVICE_VERSION, SUBSCRIPTION

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient
    from shared.domain.catalog.model import Channel
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
    current = Installed(name, str(csv["spec"].get("version") or "")) if csv else None
    return name if current and any(updates(entry, current) for entry in channel.entries) else ""
