"""What a person may have meant by a package or a channel that a catalog does not have."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from eventing.packages.listing import offered, package_of
from eventing.packages.requests import subscription_of
from shared.kinds import CATALOG_SOURCE

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient
    from shared.ports import Catalogs


def is_catalog_ready(cluster: KubeClient, namespace: str, package: str) -> bool:
    """The catalog of the Subscription was read, so what it does not offer is not there."""
    subscription = subscription_of(cluster, namespace, package)
    if subscription is None:
        return False
    spec = subscription["spec"]
    source = cluster.get(CATALOG_SOURCE.ref(str(spec.get("source")), str(spec.get("sourceNamespace")))) or {}
    return ((source.get("status") or {}).get("connectionState") or {}).get("lastObservedState") == "READY"


def near(cluster: KubeClient, namespace: str, package: str, catalogs: Catalogs | None = None) -> str:
    """The channels of the package, or packages called alike; empty when the catalog has what is asked for."""
    subscription = subscription_of(cluster, namespace, package)
    if subscription is None:
        return ""
    spec = subscription["spec"]
    if found := package_of(cluster, subscription, catalogs):
        channels = sorted(channel.name for channel in found.channels)
        return "" if spec.get("channel", "") in ("", *channels) else f"its channels: {', '.join(channels)}"
    catalog = f"{spec.get('sourceNamespace')}/{spec.get('source')}"
    known = sorted({str(row["package"]) for row in offered(cluster, catalogs) if row["catalog"] == catalog})
    alike = get_close_matches(str(spec.get("name")), known)
    return f"called alike: {', '.join(alike)}" if alike else "`olmf list --available` shows what there is"
