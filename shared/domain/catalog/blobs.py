"""The documents of a catalog as far as rules need them: it may hold a hundred thousand bundles (fbc.md §2.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from shared.domain.catalog import image_reference, schemas, shapes
from shared.domain.catalog.meta import Meta
from shared.domain.catalog.model import BUNDLE_OBJECT, PACKAGE, Entry
from shared.domain.catalog.validation_result import Place
from shared.domain.go import yaml as goyaml
from shared.domain.go.text import quoted
from shared.domain.semver import InvalidVersion, parse_version
from shared.domain.semver.release import InvalidRelease, parse_release

_WHOLE: Final = {"type", "value"}
"""The fields of a property as they nearly always are."""


class Unreadable(ValueError):
    """The fields of a document have the wrong types."""


@dataclass(frozen=True, slots=True)
class PackageBlob:
    """An `olm.package`."""

    name: str
    default_channel: str
    place: Place


@dataclass(frozen=True, slots=True)
class ChannelBlob:
    """An `olm.channel`."""

    package: str
    name: str
    entries: tuple[Entry, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class BundleBlob:
    """An `olm.bundle`: the fields that rules about several documents need, and its own flaws."""

    package: str
    name: str
    version: str
    release: str
    has_content: bool
    """It names an image or embeds objects."""
    flaws: tuple[str, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Notice:
    """One entry of an `olm.deprecations`."""

    schema: str
    name: str
    message: str


@dataclass(frozen=True, slots=True)
class DeprecationsBlob:
    """An `olm.deprecations`."""

    package: str
    notices: tuple[Notice, ...]
    place: Place


@dataclass(slots=True)
class Blobs:
    """All typed lists, in document order."""

    packages: list[PackageBlob] = field(default_factory=list)
    channels: list[ChannelBlob] = field(default_factory=list)
    bundles: list[BundleBlob] = field(default_factory=list)
    deprecations: list[DeprecationsBlob] = field(default_factory=list)

    def add(self, meta: Meta, place: Place) -> None:
        """Add one document, if its schema is known. Unreadable when its fields have the wrong types."""
        if (adder := _ADDERS.get(meta.schema)) is not None:
            adder(self, meta, place)

    def extend(self, others: Blobs) -> None:
        """Put the lists of later documents behind these."""
        self.packages += others.packages
        self.channels += others.channels
        self.bundles += others.bundles
        self.deprecations += others.deprecations


def _read(what: str, shape: shapes.Struct, meta: Meta) -> Mapping[str, Any]:
    if not shape.fits(meta.fields):
        raise Unreadable(f"parse {what}: {shapes.why_not(shape, meta.fields)}")
    return shape.read(meta.fields)


def _add_package(blobs: Blobs, meta: Meta, place: Place) -> None:
    fields = _read("package", schemas.PACKAGE, meta)
    blobs.packages.append(PackageBlob(meta.name, fields.get("defaultChannel") or "", place))


def _add_channel(blobs: Blobs, meta: Meta, place: Place) -> None:
    fields = _read("channel", schemas.CHANNEL, meta)
    entries = tuple(map(_entry, fields.get("entries") or ()))
    blobs.channels.append(ChannelBlob(meta.package, meta.name, entries, place))


def _entry(value: Mapping[str, Any] | None) -> Entry:
    return Entry.of(schemas.ENTRY.read(value))


def _add_deprecations(blobs: Blobs, meta: Meta, place: Place) -> None:
    fields = _read("deprecation", schemas.DEPRECATIONS, meta)
    notices = tuple(map(_notice, fields.get("entries") or ()))
    blobs.deprecations.append(DeprecationsBlob(meta.package, notices, place))


def _notice(value: Mapping[str, Any] | None) -> Notice:
    fields = schemas.NOTICE.read(value)
    reference = schemas.REFERENCE.read(fields.get("reference"))
    return Notice(reference.get("schema") or "", reference.get("name") or "", fields.get("message") or "")


def _add_bundle(blobs: Blobs, meta: Meta, place: Place) -> None:
    fields = _read("bundle", schemas.BUNDLE, meta)
    image = fields.get("image") or ""
    read = schemas.PROPERTY.read
    properties = [one if one and one.keys() == _WHOLE else read(one) for one in fields.get("properties") or ()]
    has_objects = _check_objects(meta, properties)
    flaws: list[str] = []
    identity = _identity(meta, properties, flaws)
    flaws += _wrong_images(meta, image, fields.get("relatedImages") or ())
    version, build = identity.get("version") or "", identity.get("release") or ""
    if identity:
        flaws += _wrong_version(meta.name, version, build)
    content = bool(image) or has_objects
    blobs.bundles.append(BundleBlob(meta.package, meta.name, version, build, content, tuple(flaws), place))


def _check_objects(meta: Meta, properties: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the bundle embeds objects. Unreadable when one of them is neither JSON nor YAML."""
    if BUNDLE_OBJECT not in [one.get("type") for one in properties]:
        return False
    for index, one in enumerate(properties):
        if one.get("type") == BUNDLE_OBJECT and (why := _wrong_object(index, one)):
            where = f"package {quoted(meta.package)}, bundle {quoted(meta.name)}"
            raise Unreadable(f"read bundle objects: {where}: {why}")
    return True


def _wrong_object(index: int, one: Mapping[str, Any]) -> str:
    if why := _wrong_value(one, schemas.BUNDLE_OBJECT):
        return f"parse property at index {index} as bundle object: {why}"
    content = schemas.embedded(one["value"])
    if content.lstrip()[:1] == b"{":
        return ""  # taken for JSON, and not looked at
    try:
        goyaml.document(content)
    except goyaml.YamlError as error:
        return f"convert bundle object property at index {index} to JSON: {error.go_message}"
    return ""


def _wrong_value(one: Mapping[str, Any], shape: shapes.Shape) -> str:
    return shapes.why_not(shape, one["value"]) if "value" in one else "unexpected end of JSON input"


def _identity(meta: Meta, properties: Sequence[Mapping[str, Any]], flaws: list[str]) -> Mapping[str, Any]:
    """The value of the only `olm.package` property; nothing, and a flaw, when there is not exactly one."""
    found = []
    for index, one in enumerate(properties):
        type_ = one.get("type") or ""
        shape = schemas.VALUES.get(type_, shapes.RAW)
        if "value" not in one or not shape.fits(one["value"]):
            where = f"parse property[{index}] of type {quoted(type_)}"
            flaws.append(f"parse properties for bundle {quoted(meta.name)}: {where}: {_wrong_value(one, shape)}")
            return {}
        if type_ == PACKAGE:
            found.append(schemas.PACKAGE_PROPERTY.read(one["value"]))
    if len(found) != 1:
        flaws.append(f'package {quoted(meta.package)} bundle {quoted(meta.name)} must have exactly 1 "{PACKAGE}" '
                     f"property, found {len(found)}")  # fmt: skip
        return {}
    owner = found[0].get("packageName") or ""
    if owner != meta.package:
        flaws.append(f'package {quoted(meta.package)} does not match "{PACKAGE}" property {quoted(owner)}')
    return {"version": "", **found[0]}


def _wrong_images(meta: Meta, image: str, related: Iterable[Mapping[str, Any] | None]) -> Iterator[str]:
    if image and (why := image_reference.why_not(image)):
        yield _wrong_image(meta, "image", image, why)
    for index, one in enumerate(related):
        text = schemas.RELATED_IMAGE.read(one).get("image")
        if text and (why := image_reference.why_not(text)):
            yield _wrong_image(meta, f"relatedImages[{index}].image", text, why)


def _wrong_image(meta: Meta, field_name: str, text: str, why: str) -> str:
    where = f"package {quoted(meta.package)} bundle {quoted(meta.name)} {field_name}"
    return f"{where}: invalid image pull spec {quoted(text)}: {why}"


def _wrong_version(name: str, version: str, build: str) -> Iterator[str]:
    try:
        parse_version(version)
    except InvalidVersion as error:
        yield f"error parsing bundle {quoted(name)} version {quoted(version)}: {error}"
    try:
        parse_release(build)
    except InvalidRelease as error:
        yield f"error parsing bundle {quoted(name)} release version {quoted(build)}: {error}"


_ADDERS: Final[Mapping[str, Callable[[Blobs, Meta, Place], None]]] = {
    "olm.package": _add_package,
    "olm.channel": _add_channel,
    "olm.bundle": _add_bundle,
    "olm.deprecations": _add_deprecations,
}
