"""Advice about a catalog: what is allowed, and causes problems for its users (fbc.md §2.5, §4.7, §21)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from shared.domain.authoring.judging.conversion import ChannelDraft, Drafts, PackageDraft
from shared.domain.catalog import graph, schemas, shapes
from shared.domain.catalog.meta import Meta
from shared.domain.catalog.model import (
    BUNDLE_OBJECT,
    CSV_METADATA,
    GVK,
    GVK_REQUIRED,
    PACKAGE_REQUIRED,
    Channel,
    Entry,
)
from shared.domain.catalog.validation_result import Place
from shared.domain.go.text import quoted
from shared.domain.semver import Version, version_or_none, why_no_range

_HOG_BYTES: Final = 1024 * 1024
_SERVED_BYTES: Final = 4 * 1024 * 1024
"""The largest message that clients of the registry API accept."""
_SERVED_NAME: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]*")
_PICTURES: Final = {
    "image/png": b"\x89PNG", "image/jpeg": b"\xff\xd8\xff", "image/gif": b"GIF8", "image/svg+xml": b"<",
}  # fmt: skip

_OTHER: Final = shapes.struct("declcfg.Meta", "schema package")
"""The shape of documents of other schemas."""

Fields: TypeAlias = Mapping[str, Any]
Words: TypeAlias = Iterator[tuple[str, str]]
"""Rules and sentences."""


@dataclass(frozen=True, slots=True)
class Advice:
    """The advice of one rule about one place."""

    rule: str
    message: str
    place: Place


def advise_document(meta: Meta, size: int, place: Place) -> Iterator[Advice]:
    """The advice about one document, if it can be read; `size` is its size in bytes."""
    shape, rules = schemas.DOCUMENTS.get(meta.schema, _OTHER), _RULES.get(meta.schema, (_served_name,))
    if shape.fits(meta.fields):
        what = f"{meta.schema} {quoted(meta.name or meta.package)}"
        words = [found for rule in rules for found in rule(shape.read(meta.fields))]
        if shape is not _OTHER:
            words += _unknown_fields(meta.fields, shape)
        words += _size(size)
        yield from (Advice(rule, f"{what}: {message}", place) for rule, message in words)


def _size(size: int) -> Words:
    if size > _HOG_BYTES:
        limit = " (clients of the registry API refuse more than 4 MiB)" if size > _SERVED_BYTES else ""
        yield "size-hog", f"takes {size / 2**20:.1f} MiB{limit}"


def _unknown_fields(value: object, shape: shapes.Shape, path: str = "") -> Words:
    """Fields that are dropped silently, such as misspelled ones, and fields in an odd spelling."""
    if isinstance(shape, shapes.Struct) and isinstance(value, dict):
        for key in sorted(value):
            name = shape.name_of(key)
            where = f"{path}.{key}" if path else key
            if name is None:
                known = ", ".join(sorted(shape.fields))
                yield "unknown-field", f"the field {where} is not known and is dropped (known are {known})"
            else:
                if name != key:
                    yield "odd-spelling", f"the field {where} is usually spelled {name}"
                yield from _unknown_fields(value[key], shape.fields[name], where)
    elif isinstance(value, list) and (inner := shapes.inner_of(shape)) is not None:
        for one in value:
            yield from _unknown_fields(one, inner, path)


def _served_name(fields: Fields) -> Words:
    for key in ("schema", "package"):
        text = fields.get(key)
        if text and not _SERVED_NAME.fullmatch(text):
            yield "cannot-be-served", f"the {key} {text!r} must match {_SERVED_NAME.pattern} to be served"


def _icon(fields: Fields) -> Words:
    icon = schemas.ICON.read(fields.get("icon"))
    if not icon:
        return
    kind = icon.get("mediatype") or ""
    start = _PICTURES.get(kind)
    if start is None:
        yield "icon", f"the media type {kind!r} of the icon is none of {', '.join(_PICTURES)}"
    elif not shapes.octets(icon.get("base64data")).lstrip().startswith(start):
        yield "icon", f"the data of the icon is no {kind}"


def _images(fields: Fields) -> Words:
    image = fields.get("image") or ""
    if image and "@" not in image:
        yield "unpinned-image", f"the image {image} is named by a tag, which can be moved: name it by digest"
    related = [schemas.RELATED_IMAGE.read(one).get("image") or "" for one in fields.get("relatedImages") or ()]
    if "" in related:
        yield "empty-related-image", "a related image has no image"
    loose = [one for one in related if one and one != image and "@" not in one]
    if loose:
        yield "unpinned-image", f"{len(loose)} related images are named by tags, e.g. {loose[0]}"


def _properties(fields: Fields) -> Words:
    kinds = []
    for index, one in enumerate(map(schemas.PROPERTY.read, fields.get("properties") or ())):
        kind, value = one.get("type") or "", one.get("value")
        kinds.append(kind)
        if not kind or value is None:
            yield "empty-property", f"property[{index}] has no {'value' if kind else 'type'}"
        elif (rule := _VALUES.get(kind)) and schemas.VALUES[kind].fits(value):
            yield from (
                (name, f"property[{index}], {kind}: {why}") for name, why in rule(schemas.VALUES[kind].read(value))
            )
    if kinds.count(CSV_METADATA) > 1:
        yield "cannot-be-served", "has more than one olm.csv.metadata"
    if BUNDLE_OBJECT in kinds:
        yield "embedded-objects", "embeds its manifests: `olmf catalog migrate` replaces them by olm.csv.metadata"


def _required_package(value: Fields) -> Words:
    if not value.get("packageName"):
        yield "empty-property", "packageName is empty"
    text = value.get("versionRange") or ""
    if why := why_no_range(text):
        yield "version-range", f"the range {text!r} cannot be read: {why}"


def _gvk(value: Fields) -> Words:
    for name in ("group", "kind", "version"):
        if not value.get(name):
            yield "empty-property", f"{name} is empty"


def _object(value: Fields) -> Words:
    if "data" not in value:
        yield "object-without-data", "has no data: the form that refers to a file is no longer read"


_VALUES: Final[Mapping[str, Callable[[Fields], Words]]] = {
    PACKAGE_REQUIRED: _required_package,
    GVK: _gvk,
    GVK_REQUIRED: _gvk,
    BUNDLE_OBJECT: _object,
}
_RULES: Final[Mapping[str, tuple[Callable[[Fields], Words], ...]]] = {
    "olm.package": (_icon,),
    "olm.channel": (),
    "olm.bundle": (_images, _properties),
    "olm.deprecations": (),
}


def advise_packages(drafts: Drafts) -> Iterator[Advice]:
    """The advice about packages whose documents fit together."""
    for name in sorted(drafts):
        package = drafts[name]
        default = package.channels.get(package.blob.default_channel)
        if default and (default.deprecation or package.deprecation):
            what = "package" if package.deprecation else "default channel"
            message = f"package {quoted(name)}: its {what} is deprecated, and whoever names no channel gets it"
            yield Advice("deprecated-default", message, package.blob.place)
        for channel in package.channels.values():
            yield from _channel(package, channel)


def _channel(package: PackageDraft, channel: ChannelDraft) -> Iterator[Advice]:
    if channel.blob is None:
        return
    where = f"package {quoted(package.name)}, channel {quoted(channel.name)}"
    versions = {bundle.name: version_or_none(bundle.version) for bundle in package.bundles.values()}
    for rule in (_unreachable_heads, _jumps, _dropped_tokens):
        for name, message in rule(channel.blob.entries, versions):
            yield Advice(name, f"{where}: {message}", channel.blob.place)


Versions: TypeAlias = Mapping[str, Version | None]


def _unreachable_heads(entries: tuple[Entry, ...], versions: Versions) -> Words:
    known = sorted(filter(None, versions.values()))
    for head in graph.heads(Channel("", entries)):
        ours = versions.get(head.name)
        older = bisect_left(known, ours) if ours else 0
        if older and not (head.replaces or head.skips or head.skip_range):
            yield (
                "unreachable-head",
                f"the head {head.name} follows nothing: none of {older} older versions leads to it",
            )


def _jumps(entries: tuple[Entry, ...], versions: Versions) -> Words:
    for entry in entries:
        above, below = versions.get(entry.name), versions.get(entry.replaces)
        if above and below and (above.major != below.major or above.minor > below.minor + 1):
            yield "jump", f"one update leads from {entry.replaces} ({below}) to {entry.name} ({above})"


def _dropped_tokens(entries: tuple[Entry, ...], _: Versions) -> Words:
    for entry in entries:
        lone = [word for word in entry.skip_range.split() if len(word) == 1 and word not in "<>="]
        if lone:
            yield "version-range", f"skipRange {entry.skip_range!r} of {entry.name}: {lone[0]!r} means nothing there"
