"""The substitutes template: a catalog in which some bundles substitute others (fbc.md §12.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from shared.domain.authoring.identity import InvalidBundle, name_of, version_release
from shared.domain.authoring.judging.judge import why_invalid
from shared.domain.authoring.template.source import METAS, RenderImage, TemplateError, entries_of, parsed
from shared.domain.catalog import shapes
from shared.domain.catalog.config import Blob, Config
from shared.domain.catalog.model import Entry
from shared.domain.go.text import quoted

SCHEMA: Final = "olm.template.substitutes"
_SUBSTITUTE: Final = shapes.struct("substitutes.Substitute", "name base")
_TEMPLATE: Final = shapes.struct(
    "substitutes.SubstitutesTemplateData", "schema",
    entries=METAS, substitutions=shapes.list_of(_SUBSTITUTE),
)  # fmt: skip


def render(content: bytes, render_image: RenderImage) -> Config:
    """The catalog of a template, which is valid. TemplateError."""
    try:
        fields = parsed(content, SCHEMA, _TEMPLATE)
    except TemplateError as error:
        raise TemplateError(f"render: unable to parse template: {error}") from error
    try:
        config = entries_of(fields)
    except TemplateError as error:
        raise TemplateError(f"render: unable to create declarative config from entries: {error}") from error
    if why := why_invalid(config):
        raise TemplateError(f"render: entries are not valid FBC: {why}")
    for base, image in _pairs(fields):
        try:
            _substitute(config, base, image, render_image)
        except TemplateError as error:
            where = f"{quoted(base)} -> {quoted(image)}"
            raise TemplateError(f"render: error processing substitution {where}: {error}") from error
    return config


def images(content: bytes) -> list[str]:
    """The images that a template is made from. TemplateError."""
    return [image for _, image in _pairs_in(parsed(content, SCHEMA, _TEMPLATE))]


def _pairs_in(fields: Blob) -> Iterator[tuple[str, str]]:
    """Base and image of each substitution."""
    for one in map(_SUBSTITUTE.read, fields.get("substitutions") or ()):
        yield one.get("base") or "", one.get("name") or ""


def _pairs(fields: Blob) -> Iterator[tuple[str, str]]:
    """Base and image of each substitution. TemplateError at the first that uses one of them again."""
    bases: dict[str, str] = {}
    for base, image in _pairs_in(fields):
        if base in bases.values():
            raise TemplateError(f"render: cannot reuse the same substitution base {quoted(base)}")
        if image in bases:
            both = f"{quoted(bases[image])} and {quoted(base)}"
            what = f"cannot reuse the same substitution {quoted(image)}"
            raise TemplateError(f"render: {what} for different bases ({both})")
        bases[image] = base
        yield base, image


def _substitute(config: Config, base: str, image: str, render_image: RenderImage) -> None:
    if why := _wrong_pair(base, image):
        raise TemplateError(f"substitution {why}")
    substitute = _rendered(image, render_image)
    replaced = next((bundle for bundle in config.bundles if name_of(bundle) == base), None)
    _check_order(substitute, image, replaced, base)
    package = (replaced or {}).get("package", "")
    config.channels = [
        _rewired(channel, base, name_of(substitute)) if channel["package"] == package else channel
        for channel in config.channels
    ]
    config.bundles.append(substitute)
    if why := why_invalid(config):
        raise TemplateError(f"resulting config is not valid FBC: {why}")


def _wrong_pair(base: str, image: str) -> str:
    if not image:
        return "name cannot be empty"
    if not base:
        return "base cannot be empty"
    return "name and base cannot be the same" if image == base else ""


def _rendered(image: str, render_image: RenderImage) -> Blob:
    found = render_image(image)
    if not found:
        raise TemplateError(f"rendered bundle image reference {quoted(image)} contains no bundles")
    return found[0].bundle


def _check_order(substitute: Blob, image: str, replaced: Blob | None, base: str) -> None:
    try:
        high = version_release(substitute)
    except InvalidBundle as error:
        what = f"failed to get VersionRelease for substitute bundle {quoted(image)}"
        raise TemplateError(f"{what}: {error}") from error
    if replaced is None:
        raise TemplateError(f"base bundle {quoted(base)} does not exist in catalog")
    try:
        low = version_release(replaced)
    except InvalidBundle as error:
        raise TemplateError(f"failed to get VersionRelease for base bundle {quoted(base)}: {error}") from error
    if low >= high:
        raise TemplateError(f"base bundle {quoted(base)} is not less than substitute bundle {quoted(image)}")


def _rewired(channel: Blob, base: str, name: str) -> Blob:
    """The channel in which a substitute takes over the edges of its base."""
    entries = [Entry.of(entry) for entry in channel["entries"] or ()]
    kept = [_redirected(Entry(base) if entry.name == base else entry, base, name) for entry in entries]
    successors = [replace(entry, name=name, skips=(*entry.skips, base)) for entry in entries if entry.name == base]
    return {**channel, "entries": [entry.document() for entry in (*kept, *successors)]}


def _redirected(entry: Entry, base: str, name: str) -> Entry:
    if entry.replaces == base:
        return replace(entry, replaces=name, skips=(*entry.skips, base))
    if base in entry.skips:
        return replace(entry, skips=(*(skip for skip in entry.skips if skip != base), name))
    return entry
