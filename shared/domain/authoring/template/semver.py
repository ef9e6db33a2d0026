"""The semver template: channels made from nothing but the versions of bundles (fbc.md §12.3)."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from shared.domain.authoring.identity import InvalidBundle, identity, name_of, version_release
from shared.domain.authoring.template.semver_template import ARCHETYPES, SCHEMA, Kind, SemverTemplate, read
from shared.domain.authoring.template.source import Rendered, RenderImage, TemplateError
from shared.domain.catalog.config import Blob, Config
from shared.domain.go.text import from_base64, quoted
from shared.domain.semver.release import VersionRelease

__all__ = ["SCHEMA", "images", "render"]


@dataclass(frozen=True, slots=True, order=True)
class _Release:
    """A bundle of one archetype, by what orders it."""

    order: VersionRelease
    name: str

    @property
    def major(self) -> int:
        return self.order.version.major

    @property
    def minor(self) -> tuple[int, int]:
        return self.major, self.order.version.minor


@dataclass(frozen=True, slots=True)
class _Channel:
    name: str
    archetype: str
    kind: Kind
    releases: tuple[_Release, ...]


_Releases = Mapping[str, list[_Release]]


def render(content: bytes, render_image: RenderImage) -> Config:
    """The catalog of a template; it is not validated. TemplateError."""
    template = read(content)
    rendered = {image: _only(image, render_image(image)) for image in template.distinct()}
    if not rendered:
        raise TemplateError("render: no bundles specified or no bundles could be rendered")
    try:
        package, releases = _releases(template, rendered)
    except (InvalidBundle, TemplateError) as error:
        raise TemplateError(f"render: unable to post-process bundle info: {error}") from error
    channels = [channel for archetype in ARCHETYPES for channel in _channels(archetype, releases[archetype], template)]
    default = _default(channels, template)
    edges = _edges(releases)
    csvs = {name_of(found.bundle): found.csv for found in rendered.values()}
    return Config(
        packages=[package_of(package, default.name, csvs[default.releases[-1].name])],
        channels=[_document(package, channel, edges) for channel in sorted(channels, key=lambda one: one.name)],
        bundles=[found.bundle for found in rendered.values()],
    )


def images(content: bytes) -> list[str]:
    """The images that a template is made from, each once. TemplateError."""
    return read(content).distinct()


def _only(image: str, found: list[Rendered]) -> Rendered:
    if len(found) != 1:
        raise TemplateError(f"bundle reference {quoted(image)} resulted in {len(found)} bundles, expected 1")
    return found[0]


def _releases(template: SemverTemplate, rendered: Mapping[str, Rendered]) -> tuple[str, _Releases]:
    """The package of all bundles, and those of each archetype in rising order."""
    package, found = "", {}
    for archetype in ARCHETYPES:
        releases: dict[str, _Release] = {}
        for image in template.images[archetype]:
            bundle = rendered[image].bundle
            owner, _ = identity(bundle)
            package = package or owner
            if owner != package:
                raise TemplateError(f"bundle {quoted(owner)} does not belong to this package: {quoted(package)}")
            name = name_of(bundle)
            if name in releases:
                raise TemplateError(f"duplicate bundle name {quoted(name)}")
            releases[name] = _Release(version_release(bundle), name)
        found[archetype] = sorted(releases.values())
        _check_order(found[archetype])
    return package, found


def _check_order(releases: list[_Release]) -> None:
    """No two may be equal but for build metadata, which orders nothing."""
    clashes = [
        f"bundle version {quoted(str(two.order.version))} cannot be compared to {quoted(_without_build(one))}"
        for one, two in pairwise(releases)
        if one.order == two.order
    ]
    if clashes:
        listed = clashes[0] if len(clashes) == 1 else f"[{', '.join(clashes)}]"
        what = "encountered bundle versions which differ only by build metadata, which cannot be ordered"
        raise TemplateError(f"{what}: {listed}")


def _without_build(release: _Release) -> str:
    return str(release.order.version).partition("+")[0]


def _channels(archetype: str, releases: list[_Release], template: SemverTemplate) -> Iterator[_Channel]:
    for kind in template.kinds:
        if kind is Kind.MAJOR:
            for major, members in groupby(releases, lambda one: one.major):
                yield _Channel(f"{archetype}-v{major}", archetype, kind, tuple(members))
        else:
            for (major, minor), members in groupby(releases, lambda one: one.minor):
                yield _Channel(f"{archetype}-v{major}.{minor}", archetype, kind, tuple(members))


def _default(channels: list[_Channel], template: SemverTemplate) -> _Channel:
    """The newest channel of the most stable archetype, of the kind that is preferred."""

    def rank(channel: _Channel) -> tuple[int, bool, tuple[int, int]]:
        return ARCHETYPES.index(channel.archetype), channel.kind is template.preference, channel.releases[0].minor

    return max(channels, key=rank)


def _edges(releases: _Releases) -> dict[tuple[str, str], Blob]:
    """What the last bundle of each minor version replaces and skips, by archetype and name."""
    found: dict[tuple[str, str], Blob] = {}
    for archetype in ARCHETYPES:
        for _, majors in groupby(releases[archetype], lambda one: one.major):
            earlier: list[str] = []
            replaced = ""
            for _, minors in groupby(majors, lambda one: one.minor):
                names = [one.name for one in minors]
                skips = sorted({*earlier, *names[:-1]} - {replaced})
                edge = {"replaces": replaced} if replaced else {}
                found[archetype, names[-1]] = {**edge, "skips": skips} if skips else edge
                earlier += names
                replaced = names[-1]
    return found


def _document(package: str, channel: _Channel, edges: Mapping[tuple[str, str], Blob]) -> Blob:
    entries = [{"name": one.name, **edges.get((channel.archetype, one.name), {})} for one in channel.releases]
    return {"schema": "olm.channel", "name": channel.name, "package": package, "entries": entries}


def package_of(name: str, default_channel: str, csv: Mapping[str, Any] | None) -> Blob:
    """The `olm.package`, with the description and the first icon of a ClusterServiceVersion, if it has them."""
    spec = csv.get("spec") if csv is not None else None
    fields = spec if isinstance(spec, Mapping) else {}
    icon, description = _icon(fields.get("icon")), fields.get("description")
    return {
        "schema": "olm.package",
        "name": name,
        "defaultChannel": default_channel,
        **({"icon": icon} if icon else {}),
        **({"description": description} if description and isinstance(description, str) else {}),
    }


def _icon(icons: Any) -> Blob | None:  # why: any JSON value
    first = icons[0] if isinstance(icons, list) and icons else None
    if not isinstance(first, Mapping) or not isinstance(data := first.get("base64data") or "", str):
        return None
    try:
        content = from_base64(data)
    except ValueError:
        return None
    return {"base64data": base64.b64encode(content).decode(), "mediatype": first.get("mediatype") or ""}
