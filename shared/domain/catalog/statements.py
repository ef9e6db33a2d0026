"""What bundles state beside their versions, as little of it as a comparison needs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from shared.domain.catalog import schemas
from shared.domain.catalog.meta import Meta
from shared.domain.catalog.model import PACKAGE
from shared.domain.go.encode import json_text

_SHOWN: Final = 200
"""Characters of a value from which on only a digest of it is kept: manifests and icons are of no use in a sentence."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What one bundle states."""

    image: str
    properties: frozenset[tuple[str, str]]
    """Type and value, without that which names package and version; a long value is a digest."""
    related: frozenset[str]
    """Images that it relates, its own left out."""


Statements: TypeAlias = dict[tuple[str, str], Statement]
"""By package and name of the bundle."""


def statement_of(meta: Meta) -> Statement:
    """The statement of an `olm.bundle` that can be read."""
    fields = schemas.BUNDLE.read(meta.fields)
    image = fields.get("image") or ""
    properties = map(schemas.PROPERTY.read, fields.get("properties") or ())
    stated = frozenset((one.get("type") or "", _text(one.get("value"))) for one in properties)
    related = {schemas.RELATED_IMAGE.read(one).get("image") or "" for one in fields.get("relatedImages") or ()}
    return Statement(image, frozenset(one for one in stated if one[0] != PACKAGE), frozenset(related - {image, ""}))


def _text(value: object) -> str:
    text = json_text(value, escapes_html=False)
    return text if len(text) < _SHOWN else f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def differences(older: Statement, newer: Statement) -> Iterator[str]:
    """What is stated now and was not, as ends of sentences about the bundle."""
    if older.image != newer.image:
        loose = ", a tag, which can be moved" if "@" in older.image and "@" not in newer.image else ""
        yield f"has the image {newer.image or 'none'}{loose}; it had {older.image or 'none'}"
    gone, new = older.properties - newer.properties, newer.properties - older.properties
    long = {kind for kind, value in gone | new if value.startswith("sha256:")}
    yield from (f"states another {kind}" for kind in sorted(long))
    for what, properties in (("no longer states", gone), ("now states", new)):
        yield from (f"{what} {kind} {value}" for kind, value in sorted(properties) if kind not in long)
    for what, images in (("no longer relates", older.related - newer.related),
                         ("now relates", newer.related - older.related)):  # fmt: skip
        if images:
            yield f"{what} the image{'s' if len(images) > 1 else ''} {', '.join(sorted(images))}"
