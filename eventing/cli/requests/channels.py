"""Moves a package to another channel, as far as its catalog has one of that name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventing.cli.requests.request import PackageError
from eventing.cli.requests.subscribing import existing_subscription
from eventing.diagnosis.offers import package_of
from shared.api.manifest import ReadOnly, name_of
from shared.api.views import Subscription
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.operators import of_package
from shared.domain.resolver.reach import Reach
from shared.domain.semver import version_or_none
from shared.kinds import CLUSTER_SERVICE_VERSION, SUBSCRIPTION

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient
    from shared.domain.catalog.model import Package
    from shared.ports import Catalogs


def switch_channel(
    cluster: KubeClient, namespace: str, package: str, channel: str, *, catalogs: Catalogs | None = None
) -> str:
    """Subscribe to another channel; the version that it leads away from, empty when it leads nowhere.

    PackageError when the catalog has no such channel, or (after subscribing to it) when nothing leads there from what
    is installed; a catalog that cannot be read is not asked.
    """
    subscription = existing_subscription(cluster, namespace, package)
    found = package_of(cluster, subscription, catalogs)
    channels = {one.name: one for one in found.channels} if found else {}
    if found and channel not in channels:
        raise PackageError(
            f"{found.name} has no channel {channel!r} in the catalog; its channels: {', '.join(sorted(channels))}"
        )
    cluster.merge(SUBSCRIPTION.ref(name_of(subscription), namespace), {"spec": {"channel": channel}})
    reach = _reach(cluster, namespace, subscription, found) if found else None
    if reach and (why := reach.dead_end(channel)):
        raise PackageError(f"{package} follows channel {channel} now, but {why}")
    return reach.name if reach and reach.leads(channel) else ""


def _reach(cluster: KubeClient, namespace: str, subscription: ReadOnly, package: Package) -> Reach | None:
    """Where its channels lead from the installed version; None without one, or while another one takes its place."""
    name = Subscription(subscription).installed_csv
    is_settled = name and name == Subscription(subscription).current_csv
    csv = CLUSTER_SERVICE_VERSION.look_up(cluster.get, name, namespace) if is_settled else None
    version = version_or_none(str(((csv or {}).get("spec") or {}).get("version") or ""))
    return Reach(of_package(package, CatalogKey("", "")), name, version) if csv else None
