"""Groups documents into packages, and checks how they refer to each other (fbc.md §6.1–6.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from shared.domain.catalog.blobs import Blobs, BundleBlob, ChannelBlob, DeprecationsBlob, Notice, PackageBlob
from shared.domain.catalog.validation_result import NOWHERE, Finding, Place
from shared.domain.go.text import quoted
from shared.domain.syntax import LABEL, SUBDOMAIN


@dataclass(slots=True)
class ChannelDraft:
    """A channel and its notice; without a document it is a default channel that is not defined."""

    name: str
    blob: ChannelBlob | None
    deprecation: Notice | None = None


@dataclass(slots=True)
class PackageDraft:
    """A package with all that belongs to it."""

    blob: PackageBlob
    channels: dict[str, ChannelDraft] = field(default_factory=dict)
    bundles: dict[str, BundleBlob] = field(default_factory=dict)
    deprecation: Notice | None = None
    bundle_deprecations: dict[str, Notice] = field(default_factory=dict)
    deprecations: DeprecationsBlob | None = None
    """The document with all these notices; None without one."""

    @property
    def name(self) -> str:
        """The name of the package."""
        return self.blob.name

    @property
    def place_of_deprecations(self) -> Place:
        """Where its notices are."""
        return self.deprecations.place if self.deprecations else NOWHERE


Drafts: TypeAlias = dict[str, PackageDraft]
"""Packages by name."""


def convert(blobs: Blobs) -> tuple[Drafts, list[Finding]]:
    """The packages of a catalog, and the findings about documents that do not fit together."""
    drafts: Drafts = {}
    findings = [Finding(message, place) for step in _STEPS for message, place in step(blobs, drafts)]
    return drafts, findings


_Complaint: TypeAlias = tuple[str, Place]


def _packages(blobs: Blobs, drafts: Drafts) -> Iterator[_Complaint]:
    for blob in blobs.packages:
        if not blob.name:
            yield "config contains package with no name", blob.place
        elif blob.name in drafts:
            yield f"duplicate package {quoted(blob.name)}", blob.place
        else:
            drafts[blob.name] = PackageDraft(blob)
            if wrong := _wrong_label(blob.name):
                yield f"invalid package name {quoted(blob.name)}: [{' '.join(wrong)}]", blob.place


def _wrong_label(name: str) -> list[str]:
    wrong = []
    if len(name.encode()) > LABEL.longest:
        wrong.append(f"must be no more than {LABEL.longest} characters")
    if not LABEL.fits(name):
        wrong.append("must not contain dots" if SUBDOMAIN.fits(name) else LABEL.rule)
    return wrong


def _channels(blobs: Blobs, drafts: Drafts) -> Iterator[_Complaint]:
    for blob in blobs.channels:
        package = drafts.get(blob.package)
        if package is None:
            yield f"unknown package {quoted(blob.package)} for channel {quoted(blob.name)}", blob.place
        elif not blob.name:
            yield f"package {quoted(blob.package)} contains channel with no name", blob.place
        elif blob.name in package.channels:
            yield f"package {quoted(blob.package)} has duplicate channel {quoted(blob.name)}", blob.place
        else:
            package.channels[blob.name] = ChannelDraft(blob.name, blob)
            where = f"invalid package {quoted(blob.package)}, channel {quoted(blob.name)}"
            seen: set[str] = set()
            for entry in blob.entries:
                if entry.name in seen:
                    yield f"{where}: duplicate entry {quoted(entry.name)}", blob.place
                seen.add(entry.name)


def _bundles(blobs: Blobs, drafts: Drafts) -> Iterator[_Complaint]:
    entered = {name: _entered(package) for name, package in drafts.items()}
    for blob in blobs.bundles:
        package = drafts.get(blob.package)
        if not blob.package:
            yield f"package name must be set for bundle {quoted(blob.name)}", blob.place
        elif package is None:
            yield f"unknown package {quoted(blob.package)} for bundle {quoted(blob.name)}", blob.place
        elif blob.name in package.bundles:
            yield f"package {quoted(blob.package)} has duplicate bundle {quoted(blob.name)}", blob.place
        else:
            package.bundles[blob.name] = blob
        for flaw in blob.flaws:
            yield flaw, blob.place
        if package is not None and blob.name not in entered[blob.package]:
            where = f"package {quoted(blob.package)}, bundle {quoted(blob.name)}"
            yield f"{where} not found in any channel entries", blob.place


def _entered(package: PackageDraft) -> set[str]:
    return {entry.name for channel in package.channels.values() if channel.blob for entry in channel.blob.entries}


def _entries(_: Blobs, drafts: Drafts) -> Iterator[_Complaint]:
    for name in sorted(drafts):
        package = drafts[name]
        # The last channel first: it is the one that opm names.
        for blob in [channel.blob for channel in reversed(package.channels.values()) if channel.blob]:
            absent = sorted({entry.name for entry in blob.entries} - package.bundles.keys())
            if absent:
                where = f"package {quoted(name)} for olm.channel entries"
                yield f"no olm.bundle blobs found in {where} [{' '.join(absent)}]", blob.place


def _default_channels(_: Blobs, drafts: Drafts) -> Iterable[_Complaint]:
    """Add default channels that are not defined, as channels without entries."""
    for package in drafts.values():
        default = package.blob.default_channel
        if default and default not in package.channels:
            package.channels[default] = ChannelDraft(default, None)
    return ()


def _deprecations(blobs: Blobs, drafts: Drafts) -> Iterator[_Complaint]:
    for index, blob in enumerate(blobs.deprecations):
        package = drafts.get(blob.package)
        if not blob.package:
            yield f"package name must be set for deprecation item {index}", blob.place
        elif package is None:
            yield f"cannot apply deprecations to an unknown package {quoted(blob.package)}", blob.place
        elif package.deprecations is not None:
            yield f"expected a maximum of one deprecation per package: {quoted(blob.package)}", blob.place
        else:
            package.deprecations = blob
            for complaint in _notices(blob, package):
                yield complaint, blob.place


def _notices(blob: DeprecationsBlob, package: PackageDraft) -> Iterator[str]:
    seen: set[tuple[str, str]] = set()
    whom = f"for package {quoted(package.name)}"
    for index, notice in enumerate(blob.notices):
        reference = f"declcfg.PackageScopedReference{{Schema:{quoted(notice.schema)}, Name:{quoted(notice.name)}}}"
        if not notice.schema:
            yield f"schema must be set for deprecation entry [{index}] {whom}"
        elif (notice.schema, notice.name) in seen:
            yield f"duplicate deprecation entry {reference} {whom}"
        elif (attach := _ATTACH.get(notice.schema)) is None:
            yield f"cannot deprecate object {reference} referenced by entry {index} {whom}: object schema unknown"
        else:
            yield from attach(notice, package)
        seen.add((notice.schema, notice.name))


def _attach_to_bundle(notice: Notice, package: PackageDraft) -> Iterator[str]:
    if notice.name not in package.bundles:
        yield f"cannot deprecate bundle {quoted(notice.name)} for package {quoted(package.name)}: bundle not found"
    package.bundle_deprecations[notice.name] = notice


def _attach_to_channel(notice: Notice, package: PackageDraft) -> Iterator[str]:
    if notice.name not in package.channels:
        yield f"cannot deprecate channel {quoted(notice.name)} for package {quoted(package.name)}: channel not found"
    else:
        package.channels[notice.name].deprecation = notice


def _attach_to_package(notice: Notice, package: PackageDraft) -> Iterator[str]:
    if notice.name:
        whom = f"deprecated package {quoted(package.name)}"
        yield f"package name must be empty for {whom} (specified {quoted(notice.name)})"
    package.deprecation = notice


_ATTACH: Final[dict[str, Callable[[Notice, PackageDraft], Iterator[str]]]] = {
    "olm.bundle": _attach_to_bundle,
    "olm.channel": _attach_to_channel,
    "olm.package": _attach_to_package,
}
_STEPS: Final[tuple[Callable[[Blobs, Drafts], Iterable[_Complaint]], ...]] = (
    _packages, _channels, _bundles, _entries, _default_channels, _deprecations,
)  # fmt: skip
