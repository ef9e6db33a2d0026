"""The versions at the heads of a package's channels, read from a snapshot (csv.md §13.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from shared.adapters.content.snapshot import Snapshot
from shared.api.manifest import ReadOnly
from shared.api.views import Csv
from shared.domain.catalog.model import Package
from shared.domain.go import json as gojson
from shared.domain.serving.package_manifest import Heads
from shared.domain.serving.registry_api import NotServable, content_of, head_of


def packages_with_heads(snapshot: Snapshot) -> Iterator[tuple[Package, Heads]]:
    """Each healthy package with the version at the head of each channel; a head that cannot be read is absent."""
    for name in snapshot.names:
        package = snapshot.package(name)
        if isinstance(package, Package):
            yield package, _heads(snapshot, package)


def _heads(snapshot: Snapshot, package: Package) -> Heads:
    pages = snapshot.documents(package.name)
    about: ReadOnly = next(map(pages.value, pages.rows("olm.package")), {})
    read = partial(_csv, package=package, about=about)
    names = {channel.name: head.name for channel in package.channels if (head := head_of(channel))}
    documents = {name: next(map(pages.value, pages.rows("olm.bundle", name)), None) for name in set(names.values())}
    found = {name: read(document) for name, document in documents.items() if document is not None}
    return {channel: csv for channel, name in names.items() if (csv := found.get(name))}


def _csv(document: Mapping[str, object], package: Package, about: ReadOnly) -> Csv | None:
    bundle = package.bundles.get(str(document.get("name")))
    try:
        text = content_of(document, bundle.version if bundle else "", about).csv
        found = gojson.loads(text.encode()) if text else None
    except (NotServable, ValueError):
        return None
    return Csv(found) if isinstance(found, dict) and Csv(found).name else None
