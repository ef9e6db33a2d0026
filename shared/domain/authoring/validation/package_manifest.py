"""The package manifest, the index of a package before there were catalogs of files (fbc.md §11.6, PackageManifest)."""

from __future__ import annotations

from collections.abc import Iterator

from shared.api.manifest import ReadOnly
from shared.domain.authoring.validation.finding import Finding, about
from shared.domain.bundle.shape import as_list, as_object
from shared.domain.go.text import quoted


def package_manifest(manifest: ReadOnly) -> Iterator[Finding]:
    """What is wrong with a package manifest."""
    name = str(manifest.get("packageName") or "")
    channels = [as_object(one) for one in as_list(manifest.get("channels"))]
    if not name:
        yield about(name, "packageName empty")
    if not channels:
        yield about(name, "channels empty")
    default, named = str(manifest.get("defaultChannel") or ""), set()
    if not default and len(channels) > 1:
        yield about(name, "default channel is empty but more than one channel exists")
    for index, channel in enumerate(channels):
        channel_name = str(channel.get("name") or "")
        if not channel_name:
            yield about(name, f"channel {index} name is empty")
        if not channel.get("currentCSV"):
            yield about(name, f"channel {quoted(channel_name)} currentCSV is empty")
        if channel_name in named:
            yield about(name, f"duplicate package manifest channel name {quoted(channel_name)}")
        named.add(channel_name)
    if default and default not in named:
        yield about(name, f"default channel {quoted(default)} not found in the list of declared channels")
