"""The messages of the registry API about a package, by field name (fbc.md §15.3–15.5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from shared.api.manifest import Manifest
from shared.domain.bundle.model import CSV
from shared.domain.catalog import schemas, shapes
from shared.domain.catalog.graph import heads, successors
from shared.domain.catalog.model import (
    BUNDLE_OBJECT,
    CSV_METADATA,
    GVK,
    GVK_REQUIRED,
    PACKAGE,
    PACKAGE_REQUIRED,
    Bundle,
    Channel,
    Entry,
    Package,
)
from shared.domain.go import yaml as goyaml
from shared.domain.go.encode import json_text
from shared.domain.go_types.engine import MisfitError
from shared.domain.go_types.plain import PLAIN
from shared.domain.semver import Version, parse_version, version_or_none

Gvk: TypeAlias = tuple[str, str, str]
"""Group, version and kind of an API."""


class NotServable(ValueError):
    """A bundle that a catalog may hold, and that the API cannot express."""


@dataclass(frozen=True, slots=True)
class Content:
    """The manifests of a bundle, as far as its catalog holds them."""

    csv: str = ""
    objects: tuple[str, ...] = ()


def head_of(channel: Channel) -> Entry | None:
    """The entry that a channel leads to; of several heads, which OLM would refuse, the first."""
    found = heads(channel)
    return found[0] if found else None


def package_message(package: Package) -> Manifest:
    """`Package`: channels by name, each with its head."""
    channels = [
        {"name": channel.name, "csvName": head.name} | _deprecation(package, f"channel/{channel.name}")
        for channel in sorted(package.channels, key=lambda one: one.name)
        if (head := head_of(channel))
    ]
    return {
        "name": package.name,
        "channels": channels,
        "defaultChannelName": package.default_channel,
    } | _deprecation(package, "package")


def bundle_message(
    package: Package, channel: str, bundle: Bundle, content: Content, *, entry: Entry | None = None
) -> Manifest:
    """`Bundle` in a channel; with its `entry` it says what it replaces and skips, as only ListBundles does."""
    edges = {"replaces": entry.replaces, "skips": list(entry.skips)} if entry else {}
    own = _own_entry(package, channel, bundle.name)
    return {
        "csvName": bundle.name,
        "packageName": package.name,
        "channelName": channel,
        "csvJson": content.csv,
        "object": list(content.objects),
        "bundlePath": bundle.image,
        "providedApis": [_gvk(value) for value in _values(bundle, GVK)],
        "requiredApis": [_gvk(value) for value in _values(bundle, GVK_REQUIRED)],
        "version": bundle.version,
        "skipRange": own.skip_range if own else "",
        "dependencies": list(_dependencies(bundle)),
        "properties": [{"type": one.type, "value": _line(one.value)} for one in bundle.properties],
        **edges,
    } | _deprecation(package, f"bundle/{bundle.name}")


def _own_entry(package: Package, channel: str, name: str) -> Entry | None:
    entries = (entry for one in package.channels if one.name == channel for entry in one.entries)
    return next((entry for entry in entries if entry.name == name), None)


def _deprecation(package: Package, key: str) -> Manifest:
    return {"deprecation": {"message": package.deprecations[key]}} if key in package.deprecations else {}


def _values(bundle: Bundle, kind: str) -> Iterator[Mapping[str, Any]]:
    return (one.value for one in bundle.properties if one.type == kind and isinstance(one.value, Mapping))


def _gvk(value: Mapping[str, Any]) -> Manifest:
    return {key: str(value.get(key) or "") for key in ("group", "version", "kind")}


def _dependencies(bundle: Bundle) -> Iterator[Manifest]:
    for one in bundle.properties:
        if one.type == GVK_REQUIRED:
            yield {"type": GVK, "value": _line(one.value)}
        elif one.type == PACKAGE_REQUIRED and isinstance(one.value, Mapping):
            desired = {"packageName": one.value.get("packageName"), "version": one.value.get("versionRange")}
            yield {"type": PACKAGE, "value": _line(desired)}


def _row(package: Package, channel: Channel, entry: Entry, replaces: str) -> Manifest:
    return {
        "packageName": package.name,
        "channelName": channel.name,
        "bundleName": entry.name,
        "replaces": replaces,
    }


def entries_that_replace(packages: Iterable[Package], name: str) -> Iterator[Manifest]:
    """`ChannelEntry`: the successors of a bundle; each row states what its entry replaces, even where it skips."""
    for package in packages:
        for channel in package.channels:
            for entry in channel.entries:
                if entry.replaces == name:
                    yield _row(package, channel, entry, entry.replaces)
                elif name in entry.skips:
                    yield from (_row(package, channel, entry, entry.replaces) for skip in entry.skips if skip == name)


def successor(channel: Channel, bundles: Mapping[str, Bundle], name: str) -> Entry | None:
    """The entry that replaces or skips a bundle; of several the one with the highest version."""
    return max(
        successors(channel, name), key=lambda entry: (_version(bundles.get(entry.name)), entry.name), default=None
    )


_LOWEST: Final = parse_version("0.0.0-0")


def _version(bundle: Bundle | None) -> Version:
    return version_or_none(bundle.version if bundle else "") or _LOWEST


def provides(bundle: Bundle, gvk: Gvk) -> bool:
    """Whether a bundle states an API as provided."""
    group, version, kind = gvk
    return {"group": group, "version": version, "kind": kind} in map(_gvk, _values(bundle, GVK))


def entries_that_provide(package: Package, gvk: Gvk, *, is_latest: bool = False) -> Iterator[Manifest]:
    """`ChannelEntry`: a row for what each providing entry replaces, and one for each other entry that it skips.

    `is_latest` looks at heads only, and at skipped entries only where they are in the channel.
    """
    for channel in package.channels:
        names = {entry.name for entry in channel.entries}
        entries: Sequence[Entry] = heads(channel)[:1] if is_latest else channel.entries
        for entry in entries:
            if entry.name in package.bundles and provides(package.bundles[entry.name], gvk):
                yield _row(package, channel, entry, entry.replaces)
                for skip in entry.skips:
                    if skip != entry.replaces and (not is_latest or skip in names):
                        yield _row(package, channel, entry, skip)


def content_of(bundle: Mapping[str, Any], version: str, package: Mapping[str, Any]) -> Content:
    """The manifests that an `olm.bundle` holds, or the CSV that its metadata and its `olm.package` make up.

    NotServable when it has more than one metadata, or objects that cannot be read.
    """
    declared = [one for one in bundle.get("properties") or () if isinstance(one, Mapping)]
    if objects := tuple(_object(one.get("value")) for one in declared if one.get("type") == BUNDLE_OBJECT):
        return Content(next(filter(_is_csv, objects), ""), objects)
    metadata = [one.get("value") for one in declared if one.get("type") == CSV_METADATA]
    if len(metadata) > 1:
        what = f'expected at most 1 property of type "{CSV_METADATA}", found {len(metadata)}'
        raise NotServable(f"parse properties: {what}")
    if not metadata or not isinstance(metadata[0], Mapping):
        return Content()
    try:
        csv = _line(PLAIN.read(_csv(bundle, metadata[0], version, package), CSV))
    except MisfitError as error:
        raise NotServable(f"its {CSV_METADATA} cannot be read: {error}") from error
    return Content(csv, (csv,))


def _object(value: Any) -> str:  # why: any JSON value
    if why := shapes.why_not(schemas.BUNDLE_OBJECT, value):
        raise NotServable(f"an {BUNDLE_OBJECT} cannot be read: {why}")
    content = schemas.embedded(value)
    try:
        return content.decode() if content.lstrip()[:1] == b"{" else _line(goyaml.load_value(content))
    except (UnicodeDecodeError, goyaml.YamlError) as error:
        raise NotServable(f"an {BUNDLE_OBJECT} cannot be read: {error}") from error


def _is_csv(text: str) -> bool:
    try:
        found = goyaml.load_value(text)
    except goyaml.YamlError:
        return False
    return isinstance(found, Mapping) and found.get("kind") == CSV


def _csv(bundle: Mapping[str, Any], metadata: Mapping[str, Any], version: str, package: Mapping[str, Any]) -> Manifest:
    """A CSV made of its `olm.csv.metadata`; clients need the `deployments` of its install strategy, which are null."""
    spec = {key: metadata[key] for key in _COPIED if key in metadata}
    icon = package.get("icon")
    return {
        "kind": CSV,
        "apiVersion": "operators.coreos.com/v1alpha1",
        "metadata": {"name": bundle.get("name"), **{key: metadata.get(key) for key in ("annotations", "labels")}},
        "spec": {
            **spec,
            "install": {"strategy": "deployment", "spec": {"deployments": None}},
            "version": version,
            "customresourcedefinitions": metadata.get("crdDescriptions"),
            "apiservicedefinitions": metadata.get("apiServiceDefinitions"),
            "description": metadata.get("description") or package.get("description"),
            "icon": [_icon(icon)] if isinstance(icon, Mapping) else None,
            "relatedImages": bundle.get("relatedImages"),
        },
    }


_COPIED: Final = (
    "displayName", "installModes", "keywords", "links", "maintainers", "maturity", "minKubeVersion", "nativeAPIs",
    "provider",
)  # fmt: skip


def _line(value: Any) -> str:  # why: any JSON value
    return json_text(value, is_sorted=False, escapes_html=False)


def _icon(icon: Mapping[str, Any]) -> Manifest:
    return {"base64data": icon.get("base64data"), "mediatype": icon.get("mediatype")}
