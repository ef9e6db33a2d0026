"""A package of a catalog as people choose from: a PackageManifest (csv.md §13.2–13.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from shared.api.manifest import Manifest
from shared.api.views import CatalogSource, Csv
from shared.domain.catalog.model import Channel, Entry, Package
from shared.domain.semver import Version, parse_version, version_or_none
from shared.domain.serving.csv_description import description, provider

API_VERSION: Final = "packages.operators.coreos.com/v1"
KIND: Final = "PackageManifest"
DEPRECATED: Final = "olm.deprecated"
"""The property of a bundle that is no version to choose any more."""
_SUPPORTED: Final = ("operatorframework.io/os.linux", "operatorframework.io/arch.amd64")
"""What an operator runs on that does not say."""
_NO_VERSION: Final = parse_version("0.0.0")

Heads = Mapping[str, Csv]
"""Channel to the version at its head; channels whose head is not known, or cannot be read, are absent."""


def package_manifest(source: CatalogSource, package: Package, heads: Heads) -> Manifest | None:
    """The manifest in the namespace of its catalog; None when no channel has a version that can be read."""
    channels = sorted((one for one in package.channels if one.name in heads), key=lambda one: one.name)
    if not channels:
        return None
    names = [one.name for one in channels]
    default = package.default_channel if package.default_channel in names else names[0]
    status = {
        "catalogSource": source.name,
        "catalogSourceDisplayName": source.display_name,
        "catalogSourcePublisher": source.publisher,
        "catalogSourceNamespace": source.namespace,
        "provider": provider(heads[default]),
        "packageName": package.name,
        **_deprecation(package, "package"),
        "channels": [_channel(package, one, heads[one.name]) for one in channels],
        "defaultChannel": default,
    }
    meta = {
        "name": package.name,
        "namespace": source.namespace,
        "labels": _labels(source, heads[default]),
        "creationTimestamp": source.age_key or None,
    }
    return {"kind": KIND, "apiVersion": API_VERSION, "metadata": meta, "spec": {}, "status": status}


def _channel(package: Package, channel: Channel, head: Csv) -> Manifest:
    return {
        "name": channel.name,
        "currentCSV": head.name,
        "currentCSVDesc": description(head),
        **_deprecation(package, f"channel/{channel.name}"),
        "entries": [_entry(package, one) for one in _chosen_from(package, channel)],
    }


def _chosen_from(package: Package, channel: Channel) -> list[Entry]:
    """The entries with a bundle that is not `olm.deprecated`, highest version first."""

    def order(entry: Entry) -> tuple[Version, str]:
        return version_or_none(package.bundles[entry.name].version) or _NO_VERSION, entry.name

    known = (one for one in channel.entries if one.name in package.bundles)
    return sorted((one for one in known if not _is_retired(package, one)), key=order, reverse=True)


def _is_retired(package: Package, entry: Entry) -> bool:
    return any(one.type == DEPRECATED for one in package.bundles[entry.name].properties)


def _entry(package: Package, entry: Entry) -> Manifest:
    version = package.bundles[entry.name].version
    return {
        "name": entry.name,
        **({"version": version} if version else {}),
        **_deprecation(package, f"bundle/{entry.name}"),
    }


def _deprecation(package: Package, key: str) -> Manifest:
    return {"deprecation": {"message": package.deprecations[key]}} if key in package.deprecations else {}


def _labels(source: CatalogSource, csv: Csv) -> Mapping[str, str]:
    who = provider(csv)
    labels = {
        **source.labels,
        "catalog": source.name,
        "catalog-namespace": source.namespace,
        "provider": who.get("name", ""),
        "provider-url": who.get("url", ""),
        **csv.labels,
    }
    return labels | dict.fromkeys(_unsaid(labels), "supported")


def _unsaid(labels: Mapping[str, str]) -> Iterator[str]:
    """The defaults of which no label speaks: each stands for all that begin like it."""
    for default in _SUPPORTED:
        family = default.rpartition(".")[0]
        if not any(label.startswith(f"{family}.") for label in labels):
            yield default
