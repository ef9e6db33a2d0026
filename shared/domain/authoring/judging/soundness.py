"""Checks packages whose documents fit together: the tree of errors of a model (fbc.md §6.6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from shared.domain.authoring.judging.conversion import ChannelDraft, Drafts, PackageDraft
from shared.domain.catalog import graph
from shared.domain.catalog.blobs import BundleBlob, Notice
from shared.domain.catalog.model import Channel, Entry
from shared.domain.catalog.validation_result import Finding, Place
from shared.domain.go.text import quoted
from shared.domain.semver import why_no_range

_ROOT: Final = "invalid index"
_NO_MESSAGE: Final = "invalid deprecation: message must be set"

_Path: TypeAlias = tuple[str, ...]


def defects(drafts: Drafts) -> Iterator[Finding]:
    """Everything that is wrong with the packages of a catalog, package by package."""
    for name in sorted(drafts):
        yield from _package(drafts[name])


def _package(package: PackageDraft) -> Iterator[Finding]:
    path, place = (_ROOT, f"invalid package {quoted(package.name)}"), package.blob.place
    if not package.blob.default_channel:
        yield Finding("default channel must be set", place, path)
    if not package.channels:
        yield Finding("package must contain at least one channel", place, path)
    for name in sorted(package.channels):
        yield from _channel(package, package.channels[name], path)
    if groups := _same_versions(package):
        yield Finding(f"duplicate versions found in bundles: [{' '.join(groups)}]", place, path)
    if _is_mute(package.deprecation):
        yield Finding(_NO_MESSAGE, package.place_of_deprecations, path)


def _is_mute(notice: Notice | None) -> bool:
    return notice is not None and not notice.message


def _same_versions(package: PackageDraft) -> list[str]:
    names: dict[str, list[str]] = {}
    for bundle in package.bundles.values():
        names.setdefault(_version_text(bundle), []).append(bundle.name)
    return [
        f"{{{version}: [{', '.join(sorted(names[version]))}]}}" for version in sorted(names) if len(names[version]) > 1
    ]


def _version_text(bundle: BundleBlob) -> str:
    return f"{bundle.version}-{bundle.release}" if bundle.release else bundle.version


def _channel(package: PackageDraft, channel: ChannelDraft, above: _Path) -> Iterator[Finding]:
    path = (*above, f"invalid channel {quoted(channel.name)}")
    place = channel.blob.place if channel.blob else package.blob.place
    entries = channel.blob.entries if channel.blob else ()
    if not entries:
        yield Finding("channel must contain at least one bundle", place, path)
    elif why := graph.defect(Channel(channel.name, entries)):
        yield Finding(why, place, path)
    for entry in sorted(entries, key=lambda one: one.name):
        yield from _entry(package, entry, place, path)
    if _is_mute(channel.deprecation):
        yield Finding(_NO_MESSAGE, package.place_of_deprecations, path)


def _entry(package: PackageDraft, entry: Entry, place: Place, above: _Path) -> Iterator[Finding]:
    path = (*above, f"invalid bundle {quoted(entry.name)}")
    bundle = package.bundles[entry.name]
    normal = f"{package.name}-v{_version_text(bundle)}" if bundle.release else bundle.name
    if not entry.name:
        yield Finding("name must be set", bundle.place, path)
    if entry.name != normal:
        why = f"name {quoted(entry.name)} does not match normalized name {quoted(normal)}"
        yield Finding(why, bundle.place, path)
    for index, skip in enumerate(entry.skips):
        if not skip:
            yield Finding(f"skip[{index}] is empty", place, path)
    if entry.skip_range and (why := why_no_range(entry.skip_range)):
        yield Finding(f"invalid skipRange {quoted(entry.skip_range)}: {why}", place, path)
    if not bundle.has_content:
        yield Finding("bundle image must be set", bundle.place, path)
    if _is_mute(package.bundle_deprecations.get(entry.name)):
        yield Finding(_NO_MESSAGE, package.place_of_deprecations, path)
    if bundle.release and "+" in bundle.version:
        yield Finding("cannot use build metadata in version with a release version", bundle.place, path)
