"""Reads a semver template (fbc.md §12.3): its images, its kinds of channels, its default."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from shared.domain.authoring.template.source import TemplateError
from shared.domain.bundle.shape import as_list, as_object
from shared.domain.catalog import shapes
from shared.domain.catalog.config import Blob
from shared.domain.go import yaml as goyaml
from shared.domain.go.text import fold, quoted

SCHEMA: Final = "olm.semver"
ARCHETYPES: Final = ("candidate", "fast", "stable")
"""In rising stability."""
_STRICT: Final = "error unmarshaling JSON: while decoding JSON: "


class Kind(enum.StrEnum):
    """What the bundles of one channel have in common."""

    MAJOR = "major"
    MINOR = "minor"


_IMAGES: Final = shapes.struct("semver.bundleEntry", "image")
_BUNDLES: Final = shapes.struct("semver.channelBundles", bundles=shapes.list_of(_IMAGES))
_TEMPLATE: Final = shapes.struct(
    "semver.SemverTemplateData", "schema",
    generateMajorChannels=shapes.FLAG, generateMinorChannels=shapes.FLAG,
    defaultChannelTypePreference=shapes.named_text("semver.StreamType"),
    **dict.fromkeys(ARCHETYPES, _BUNDLES),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SemverTemplate:
    """A valid template."""

    kinds: tuple[Kind, ...]
    preference: Kind
    images: Mapping[str, tuple[str, ...]]
    """By archetype."""

    def distinct(self) -> list[str]:
        """The images of all archetypes, each once."""
        return list(dict.fromkeys(image for images in self.images.values() for image in images))


def read(content: bytes) -> SemverTemplate:
    """The content of a template. TemplateError."""
    try:
        return _template(_fields(content))
    except TemplateError as error:
        raise TemplateError(f"render: unable to read file: {error}") from error


def _fields(content: bytes) -> Blob:
    try:
        value = goyaml.load_value(content)
    except goyaml.YamlError as error:
        raise TemplateError(f"error converting YAML to JSON: {error.go_message}") from error
    if why := next(_unknown(value), "") or shapes.why_not(_TEMPLATE, value):
        raise TemplateError(f"{_STRICT}{why}")
    fields = _TEMPLATE.read(value)
    if fields.get("schema") != SCHEMA:
        raise TemplateError(f"readFile: input file has unknown schema, should be {quoted(SCHEMA)}")
    return fields


def _unknown(value: Any) -> Iterator[str]:
    """The errors about unknown fields, which this template does not allow."""
    levels = [(_TEMPLATE, [value])]
    archetypes = [one for key, one in _items(value) if fold(key) in ARCHETYPES]
    levels.append((_BUNDLES, archetypes))
    levels.append((_IMAGES, [one for each in archetypes for _, ones in _items(each) for one in as_list(ones)]))
    for shape, holders in levels:
        keys = (key for one in holders for key, _ in _items(one) if shape.name_of(key) is None)
        yield from (f"json: unknown field {quoted(key)}" for key in keys)


def _items(value: Any) -> list[tuple[str, Any]]:
    return list(as_object(value).items())


def _template(fields: Blob) -> SemverTemplate:
    kinds = [kind for kind in Kind if fields.get(f"generate{kind.title()}Channels")] or [Kind.MINOR]
    desired = fields.get("defaultChannelTypePreference") or (Kind.MINOR if Kind.MINOR in kinds else Kind.MAJOR)
    if desired not in set(Kind):
        why = f"unknown DefaultChannelTypePreference: {quoted(desired)}\nValid values are 'major' or 'minor'"
        raise TemplateError(why)
    if desired not in kinds:
        what = f"DefaultChannelTypePreference set to '{desired}' doesn't make sense"
        raise TemplateError(f"schema attribute mismatch: {what} if not generating {desired}-version channels")
    return SemverTemplate(
        tuple(kinds), Kind(desired), {archetype: _images(fields.get(archetype)) for archetype in ARCHETYPES}
    )


def _images(value: Blob | None) -> tuple[str, ...]:
    listed = _BUNDLES.read(value).get("bundles") or ()
    return tuple(_IMAGES.read(one).get("image") or "" for one in listed)
