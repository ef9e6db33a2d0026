"""What a person may have meant by a package or a channel that a catalog does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventing.cli.commands import quoted
from eventing.cli.names import similar
from eventing.diagnosis.offers import looked_up, offered, package_of, subscription_of
from shared.api.manifest import ReadOnly
from shared.domain.command import olmf
from shared.kinds import CATALOG_SOURCE
from shared.ports import Unavailable

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient
    from shared.domain.catalog.model import Package
    from shared.ports import Catalogs


def catalog_of(cluster: KubeClient, namespace: str, package: str) -> ReadOnly | None:
    """The CatalogSource that the Subscription to a package names; None: it does not exist."""
    spec = (subscription_of(cluster, namespace, package) or {}).get("spec") or {}
    return CATALOG_SOURCE.look_up(cluster.get, spec.get("source"), spec.get("sourceNamespace"))


def is_catalog_ready(source: ReadOnly) -> bool:
    """The catalog was read, so what it does not offer is not there."""
    return ((source.get("status") or {}).get("connectionState") or {}).get("lastObservedState") == "READY"


def near(cluster: KubeClient, namespace: str, package: str, catalogs: Catalogs | None = None) -> str:
    """The channels of the package, or packages with similar names; empty when the catalog has what is asked for."""
    subscription = subscription_of(cluster, namespace, package)
    if subscription is None:
        return ""
    spec = subscription["spec"]
    if found := package_of(cluster, subscription, catalogs):
        return f"; {channels}" if (channels := _channels(spec, found)) else ""
    return _alike(cluster, spec, catalogs)


def refusal(cluster: KubeClient, spec: ReadOnly, catalogs: Catalogs | None = None) -> str:
    """Why the catalog does not have what a Subscription would ask for; empty when it has, or cannot be read."""
    found, name = looked_up(cluster, spec, catalogs), spec.get("name")
    catalog = f"{spec.get('sourceNamespace')}/{spec.get('source')}"
    if found is None:
        return f"catalog {catalog} has no package {name!r}{_alike(cluster, spec, catalogs)}"
    if isinstance(found, Unavailable):
        return ""
    if channels := _channels(spec, found):
        return f"{name} has no channel {spec.get('channel')!r} in catalog {catalog}; {channels}"
    start, channel = spec.get("startingCSV"), spec.get("channel") or found.default_channel
    entries = {one.name: [entry.name for entry in one.entries] for one in found.channels}
    if start in (None, "", *entries.get(channel, ())):
        return ""
    others = ", ".join(name for name, names in entries.items() if start in names)
    there = f"; it is in --channel {others}" if others else similar(str(start), found.bundles)
    hint = there or f"; {quoted(olmf('versions', str(name)))} lists what there is"
    return f"channel {channel} of {name} in catalog {catalog} has no version {start!r}{hint}"


def _channels(spec: ReadOnly, package: Package) -> str:
    channels = sorted(channel.name for channel in package.channels)
    return "" if spec.get("channel", "") in ("", *channels) else f"its channels: {', '.join(channels)}"


def _alike(cluster: KubeClient, spec: ReadOnly, catalogs: Catalogs | None) -> str:
    catalog = f"{spec.get('sourceNamespace')}/{spec.get('source')}"
    known = {str(row["package"]) for row in offered(cluster, catalogs) if row["catalog"] == catalog} - {""}
    return similar(str(spec.get("name")), known) or f"; {quoted(olmf('list', '--available'))} shows what there is"
