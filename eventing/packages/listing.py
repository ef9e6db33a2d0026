"""Lists what is installed and what catalogs offer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventing.packages.progress import standing
from shared import names
from shared.api.manifest import ReadOnly, labels_of, name_of, namespace_of
from shared.kinds import CATALOG_SOURCE, CLUSTER_SERVICE_VERSION, SUBSCRIPTION

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient
    from shared.domain.catalog.model import Package
    from shared.ports import Catalogs, ImageSource

Row = dict[str, object]


def installed(cluster: KubeClient, namespace: str = "") -> list[Row]:
    """One row per Subscription, with the standing of its package."""
    originals = [
        csv for csv in cluster.list(CLUSTER_SERVICE_VERSION, namespace) if names.COPIED_FROM not in labels_of(csv)
    ]
    csvs = {(namespace_of(csv), name_of(csv)): csv for csv in originals}
    rows: list[Row] = []
    for subscription in cluster.list(SUBSCRIPTION, namespace):
        place, spec = namespace_of(subscription), subscription["spec"]
        csv = csvs.get((place, str((subscription.get("status") or {}).get("currentCSV") or "")))
        now = standing(subscription, csv)
        rows.append(
            {
                "namespace": place,
                "subscription": name_of(subscription),
                "package": spec.get("name"),
                "channel": spec.get("channel") or "(default)",
                "version": now.version,
                "phase": now.phase,
                "approval": spec.get("installPlanApproval") or "Automatic",
                "says": now.says,
            }
        )
    return rows


def offered(cluster: KubeClient, catalogs: Catalogs | None = None) -> list[Row]:
    """One row per channel of each package of every catalog that was read: its newest version."""
    from shared.domain.catalog.graph import heads
    from shared.domain.catalog.model import Package
    from shared.ports import Unavailable

    reader = catalogs or _reader(cluster)
    rows: list[Row] = []
    for source in cluster.list(CATALOG_SOURCE):
        reference, image = _content(source)
        found = reader.packages(reference, image) if reference else ()
        for name in () if isinstance(found, Unavailable) else found:
            package = reader.package(reference, name, image)
            if not isinstance(package, Package):
                continue
            rows += [
                {
                    "package": name,
                    "channel": channel.name + (" (default)" if channel.name == package.default_channel else ""),
                    "version": ", ".join(entry.name for entry in heads(channel)),
                    "catalog": f"{namespace_of(source)}/{name_of(source)}",
                }
                for channel in package.channels
            ]
    return rows


def package_of(cluster: KubeClient, subscription: ReadOnly, catalogs: Catalogs | None = None) -> Package | None:
    """What the catalog of a Subscription offers as its package; None when it does not, or cannot be read."""
    from shared.domain.catalog.model import Package

    spec = subscription["spec"]
    source = cluster.get(CATALOG_SOURCE.ref(str(spec.get("source")), str(spec.get("sourceNamespace"))))
    reference, image = _content(source or {"metadata": {}, "spec": {}})
    found = (catalogs or _reader(cluster)).package(reference, str(spec.get("name")), image) if reference else None
    return found if isinstance(found, Package) else None


def _content(source: ReadOnly) -> tuple[str, ImageSource]:
    """The image of a catalog by digest (empty: it was not read yet), and how it is pulled."""
    from shared.ports import ImageSource

    reference = str(((source.get("status") or {}).get("connectionState") or {}).get("address") or "")
    secrets = tuple(filter(None, source["spec"].get("secrets") or ()))
    image = ImageSource(str(source["spec"].get("image") or reference), namespace_of(source), secrets)
    return (reference if "@" in reference else ""), image


def _reader(cluster: KubeClient) -> Catalogs:
    from eventing.wiring import catalogs_for

    return catalogs_for(cluster)
