"""What the registry API answers (fbc.md §15.3): edges from memory, bundles and their content from a snapshot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from shared.adapters.catalog_api.errors import BadRequestError, ResponseError
from shared.adapters.content.snapshot import Channels, Snapshot
from shared.api.manifest import Manifest
from shared.domain.catalog.graph import defect
from shared.domain.catalog.model import Bundle, Channel, Package
from shared.domain.go.text import quoted
from shared.domain.serving import registry_api
from shared.domain.serving.registry_api import Content, Gvk, NotServable

_KEY: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]*")
_CORE: Final = frozenset({"olm.package", "olm.channel", "olm.bundle", "olm.deprecations"})
_PACKAGES_READ: Final = 16


class Answers:
    """The whole API over one snapshot; safe to share between threads."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.sick: dict[str, tuple[str, ...]] = {}
        """Packages that are not served, and why."""
        self.flawed: dict[str, tuple[str, ...]] = {}
        """Packages that are served, with channels through which nothing is updated."""
        self._packages: dict[str, Package] = {}
        for name in snapshot.names:
            found = snapshot.channels(name)
            if isinstance(found, Channels):
                self._packages[name] = Package(name, found.default_channel, found.channels, {}, found.deprecations)
                defects = ((one.name, defect(one)) for one in found.channels)
                if flaws := tuple(f"channel {channel}: {why}" for channel, why in defects if why):
                    self.flawed[name] = flaws
            elif found is not None:
                self.sick[name] = found.findings
        self.entries = sum(len(one.entries) for package in self._packages.values() for one in package.channels)
        """How many entries its channels have: what it holds in memory grows with them."""
        self._bundles = lru_cache(_PACKAGES_READ)(snapshot.bundles)

    def list_packages(self, _: Manifest) -> Iterator[Manifest]:
        """The names of all packages, sorted."""
        return ({"name": name} for name in self._packages)

    def get_package(self, asked: Manifest) -> Manifest:
        """A package with its channels and their heads."""
        return registry_api.package_message(self._package(asked.get("name", "")))

    def get_bundle(self, asked: Manifest) -> Manifest:
        """A bundle of a channel."""
        package, channel = self._channel(asked)
        name = asked.get("csvName", "")
        if name not in {entry.name for entry in channel.entries}:
            raise ResponseError(f"package {quoted(package.name)}, channel {quoted(channel.name)}, "
                              f"bundle {quoted(name)} not found")  # fmt: skip
        return self._bundle(package, channel, name)

    def get_bundle_for_channel(self, asked: Manifest) -> Manifest:
        """The bundle at the head of a channel."""
        package, channel = self._channel(asked)
        head = registry_api.head_of(channel)
        if head is None:
            where = f"package {quoted(package.name)}, channel {quoted(channel.name)}"
            raise ResponseError(f"{where} has no head: its entries replace each other")
        return self._bundle(package, channel, head.name)

    def entries_that_replace(self, asked: Manifest) -> Iterator[Manifest]:
        """Every entry that comes after a bundle."""
        name = asked.get("csvName", "")
        rows = registry_api.entries_that_replace(self._packages.values(), name)
        return _some(rows, f"no channel entries found that replace {name}")

    def get_bundle_that_replaces(self, asked: Manifest) -> Manifest:
        """The bundle that comes after another one in a channel."""
        if asked.get("pkgName", "") not in self._packages:
            raise ResponseError(f"package {asked.get('pkgName', '')} not found")
        package, channel = self._channel(asked)
        found = registry_api.successor(channel, self._bundles(package.name), asked.get("csvName", ""))
        if found is None:
            raise ResponseError(f"no entry found for package {quoted(package.name)}, channel {quoted(channel.name)}")
        return self._bundle(package, channel, found.name)

    def entries_that_provide(self, asked: Manifest) -> Iterator[Manifest]:
        """Every entry whose bundle provides an API."""
        return self._providers(_gvk(asked))

    def latest_that_provide(self, asked: Manifest) -> Iterator[Manifest]:
        """The heads whose bundles provide an API."""
        return self._providers(_gvk(asked), is_latest=True)

    def default_that_provides(self, asked: Manifest) -> Manifest:
        """The first package, by name, of which the default channel leads to a bundle that provides an API."""
        gvk = _gvk(asked)
        for row in self._providers(gvk, is_latest=True):
            package = self._packages[row["packageName"]]
            if row["channelName"] == package.default_channel:
                channel = next(one for one in package.channels if one.name == package.default_channel)
                return self._bundle(package, channel, row["bundleName"])
        raise ResponseError(f"no entry found that provides {_described(gvk)}")

    def list_bundles(self, _: Manifest) -> Iterator[Manifest]:
        """Every bundle in every channel, with its edges; content only where no image has it."""
        members = sorted((channel.name, name) for name, one in self._packages.items() for channel in one.channels)
        for channel_name, name in members:
            package, channel = self._channel({"pkgName": name, "channelName": channel_name})
            whole, bundles = self._whole(package), self._bundles(name)
            for entry in sorted(channel.entries, key=lambda one: one.name):
                if (bundle := bundles.get(entry.name)) is not None:
                    content = Content() if bundle.image else self._content(name, bundle)
                    yield registry_api.bundle_message(whole, channel_name, bundle, content, entry=entry)

    def custom_schemas(self, asked: Manifest) -> Iterator[Manifest]:
        """The documents of a package that have a schema OLM does not know; without a package, those of no package."""
        schema, package = asked.get("schema", ""), asked.get("packageName", "")
        if not schema:
            raise BadRequestError("schema is required")
        for what, word in (("schema", schema), ("packageName", package)):
            if word and not _KEY.fullmatch(word):
                why = f"invalid {what} {quoted(word)}: must match ^{_KEY.pattern}$"
                raise BadRequestError(f"invalid custom schema query: {why}")
        if schema in _CORE:
            return iter(())
        pages = self._snapshot.documents(package)
        return (pages.value(row) for row in pages.rows(schema))

    def _package(self, name: str) -> Package:
        if name not in self._packages:
            raise ResponseError(f"package {quoted(name)} not found")
        return self._packages[name]

    def _channel(self, asked: Manifest) -> tuple[Package, Channel]:
        package, name = self._package(asked.get("pkgName", "")), asked.get("channelName", "")
        for channel in package.channels:
            if channel.name == name:
                return package, channel
        raise ResponseError(f"package {quoted(package.name)}, channel {quoted(name)} not found")

    def _whole(self, package: Package) -> Package:
        return replace(package, bundles=self._bundles(package.name))

    def _bundle(self, package: Package, channel: Channel, name: str) -> Manifest:
        bundle = self._bundles(package.name)[name]
        return registry_api.bundle_message(package, channel.name, bundle, self._content(package.name, bundle))

    def _content(self, package: str, bundle: Bundle) -> Content:
        pages = self._snapshot.documents(package)
        document: Mapping[str, Any] = next((pages.value(row) for row in pages.rows("olm.bundle", bundle.name)), {})
        about: Mapping[str, Any] = next((pages.value(row) for row in pages.rows("olm.package")), {})
        try:
            return registry_api.content_of(document, bundle.version, about)
        except NotServable as error:
            raise ResponseError(f"bundle {quoted(bundle.name)}: {error}") from error

    def _providers(self, gvk: Gvk, *, is_latest: bool = False) -> Iterator[Manifest]:
        names = self._snapshot.providers_of(*gvk)
        wholes = (self._whole(self._packages[name]) for name in names if name in self._packages)
        rows = (row for one in wholes for row in registry_api.entries_that_provide(one, gvk, is_latest=is_latest))
        return _some(rows, f"no channel entries found that provide {_described(gvk)}")


def _some(rows: Iterable[Manifest], otherwise: str) -> Iterator[Manifest]:
    found = False
    for row in rows:
        found = True
        yield row
    if not found:
        raise ResponseError(otherwise)


def _gvk(asked: Manifest) -> Gvk:
    return asked.get("group", ""), asked.get("version", ""), asked.get("kind", "")


def _described(gvk: Gvk) -> str:
    return "group:{} version:{} kind:{}".format(*map(quoted, gvk))
