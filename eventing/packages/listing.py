"""Lists what is installed and what catalogs offer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventing.packages.progress import standing
from shared import names
from shared.api.manifest import labels_of, name_of, namespace_of
from shared.kinds import CATALOG_SOURCE, CLUSTER_SERVICE_VERSION, SUBSCRIPTION

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient
    from shared.ports import Catalogs

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
    from shared.ports import ImageSource, Unavailable

    reader = catalogs or _reader(cluster)
    rows: list[Row] = []
    for source in cluster.list(CATALOG_SOURCE):
        reference = str(((source.get("status") or {}).get("connectionState") or {}).get("address") or "")
        if "@" not in reference:
            continue
        secrets = tuple(filter(None, source["spec"].get("secrets") or ()))
        image = ImageSource(str(source["spec"].get("image") or reference), namespace_of(source), secrets)
        found = reader.packages(reference, image)
        for name in () if isinstance(found, Unavailable) else found:
            package = reader.package(reference, name, image)
            if package is None or isinstance(package, Unavailable):
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


def _reader(cluster: KubeClient) -> Catalogs:
    from eventing.wiring import catalogs_for

    return catalogs_for(cluster)
