"""Turns the documents of one package into its model, or into the reasons why it is not valid (fbc.md §6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import filterfalse
from typing import Any, Final

from shared.domain.catalog.documents import Document, PackageDocuments
from shared.domain.catalog.model import PACKAGE, Bundle, Channel, Entry, Package, Property
from shared.domain.catalog.schemas import ENTRY
from shared.domain.semver import InvalidVersion, parse_version


@dataclass(frozen=True, slots=True)
class SickPackage:
    """A package that cannot be offered; the other packages of its catalog can."""

    name: str
    findings: tuple[str, ...]
    """Every reason, as a sentence that begins with the place."""


def parse_package(name: str, documents: PackageDocuments) -> Package | SickPackage:
    """One package, checked."""
    findings = [finding for rule in _RULES for finding in rule(name, documents)]
    if findings:
        return SickPackage(name, tuple(findings))
    channels = tuple(
        Channel(document.name, tuple(map(Entry.of, document.fields["entries"]))) for document in documents.channels
    )
    bundles = {document.name: _bundle(document) for document in documents.bundles}
    default = str(documents.packages[0].fields.get("defaultChannel"))
    missing = _uncovered(name, channels, bundles, default)
    return SickPackage(name, missing) if missing else Package(name, default, channels, bundles, _notices(documents))


def _check_package(name: str, documents: PackageDocuments) -> Iterator[str]:
    if not name:
        yield from (
            f"{document.where}: {document.schema} {document.name!r} names no package" for document in _all(documents)
        )
        return
    if not documents.packages:
        first = next(_all(documents))
        yield f"{first.where}: unknown package {name!r} for {first.schema.removeprefix('olm.')} {first.name!r}"
    for document in documents.packages[1:]:
        yield f"{document.where}: duplicate package {name!r}"
    for document in documents.packages[:1]:
        if not isinstance(default := document.fields.get("defaultChannel"), str) or not default:
            yield f"{document.where}: package {name!r} has no default channel: set defaultChannel"


def _all(documents: PackageDocuments) -> Iterator[Document]:
    yield from (*documents.packages, *documents.channels, *documents.bundles, *documents.deprecations)


def _check_channels(name: str, documents: PackageDocuments) -> Iterator[str]:
    yield from _repeated(name, "channel", documents.channels)
    for document in documents.channels:
        if not document.name:
            yield f"{document.where}: package {name!r} contains channel with no name"
        entries = document.fields.get("entries")
        if not isinstance(entries, list) or not entries:
            yield f"{document.where}: channel {document.name!r} must contain at least one entry"
        else:
            yield from (f"{document.where}, channel {document.name!r}: {why}" for why in _wrong_entries(entries))


def _wrong_entries(entries: list[Any]) -> Iterator[str]:
    for entry in filterfalse(_is_entry, entries):
        yield f"an entry needs a name, texts for replaces and skipRange, and a list of names for skips, got {entry!r}"
    names = [entry.get("name") for entry in entries if isinstance(entry, dict)]
    counts = Counter(name for name in names if isinstance(name, str))
    yield from (f"duplicate entry {found!r}" for found, count in counts.items() if count > 1)


def _is_entry(value: Any) -> bool:
    return isinstance(value, dict) and ENTRY.fits(value) and all((value.get("name"), *(value.get("skips") or ())))


def _check_bundles(name: str, documents: PackageDocuments) -> Iterator[str]:
    yield from _repeated(name, "bundle", documents.bundles)
    for document in documents.bundles:
        yield from (f"{document.where}: bundle {document.name!r} {why}" for why in _wrong_bundle(name, document))


def _wrong_bundle(package: str, document: Document) -> Iterator[str]:
    if not document.name:
        yield "has no name"
    if not isinstance(document.fields.get("image") or "", str):
        yield f"has an image that is no text: {document.fields['image']!r}"
    properties = document.fields.get("properties") or []
    if not isinstance(properties, list) or not all(map(_is_property, properties)):
        yield "has properties that are not a list of {type, value}"
        return
    identities = [one.get("value") for one in properties if one["type"] == PACKAGE]
    match identities:
        case [{"packageName": str(found), "version": str(version)}]:
            if found != package:
                yield f'is in package {package!r}, which does not match its "{PACKAGE}" property {found!r}'
            yield from _wrong_version(version)
        case [other]:
            yield f'has an "{PACKAGE}" property without packageName and version: {other!r}'
        case _:
            yield f'must have exactly 1 "{PACKAGE}" property, found {len(identities)}'


def _is_property(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def _wrong_version(version: str) -> Iterator[str]:
    try:
        parse_version(version)
    except InvalidVersion as error:
        yield f"has the version {version!r}: {error}"


def _repeated(package: str, what: str, documents: Iterable[Document]) -> Iterator[str]:
    seen = set()
    for document in documents:
        if document.name in seen:
            yield f"{document.where}: package {package!r} has duplicate {what} {document.name!r}"
        seen.add(document.name)


def _check_deprecations(name: str, documents: PackageDocuments) -> Iterator[str]:
    for document in documents.deprecations[1:]:
        yield f"{document.where}: expected a maximum of one deprecation per package: {name!r}"
    for document in documents.deprecations[:1]:
        entries = document.fields.get("entries") or []
        if not isinstance(entries, list) or None in map(_notice, entries):
            yield f"{document.where}: a deprecation needs a message, and a reference to a package, channel or bundle"


_RULES: Final[tuple[Callable[[str, PackageDocuments], Iterator[str]], ...]] = (
    _check_package,
    _check_channels,
    _check_bundles,
    _check_deprecations,
)


def _uncovered(
    name: str, channels: tuple[Channel, ...], bundles: Mapping[str, Bundle], default: str
) -> tuple[str, ...]:
    """The defects of channels and bundles that only show when both are known."""
    findings = []
    for channel in channels:
        absent = sorted(entry.name for entry in channel.entries if entry.name not in bundles)
        if absent:
            findings.append(
                f"no olm.bundle blobs found in package {name!r} for olm.channel entries {absent} of {channel.name!r}"
            )
    if default not in {channel.name for channel in channels}:
        names = ", ".join(channel.name for channel in channels) or "none"
        findings.append(f"package {name!r} has no channel {default!r}, its default channel (it has: {names})")
    return tuple(findings)


def _bundle(document: Document) -> Bundle:
    properties = tuple([Property(one["type"], one.get("value")) for one in document.fields.get("properties") or ()])
    version = next(one.value["version"] for one in properties if one.type == PACKAGE)
    return Bundle(document.name, version, document.fields.get("image") or "", properties)


def _notices(documents: PackageDocuments) -> dict[str, str]:
    return dict(
        notice
        for document in documents.deprecations
        for notice in map(_notice, document.fields.get("entries") or ())
        if notice
    )


def _notice(entry: object) -> tuple[str, str] | None:
    match entry:
        case {"reference": {"schema": "olm.package"}, "message": str(message)} if message:
            return "package", message
        case {
            "reference": {"schema": "olm.channel" | "olm.bundle" as schema, "name": str(name)},
            "message": str(message),
        }:
            return f"{schema.removeprefix('olm.')}/{name}", message
    return None
