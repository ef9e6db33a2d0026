"""The images and properties that bundles state, as far as a comparison of catalogs needs them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from shared.domain.catalog import schemas
from shared.domain.catalog.meta import Meta
from shared.domain.catalog.model import PACKAGE
from shared.domain.go.encode import json_text

_SHOWN: Final = 200
"""Characters of a value from which on only a digest of it is kept: manifests and icons are of no use in a sentence."""


class _Value(NamedTuple):
    """One property."""

    type: str
    value: str
    is_digest: bool
    """Whether `value` is the digest of a long one."""


@dataclass(frozen=True, slots=True)
class Statement:
    """The images and properties of one bundle."""

    image: str
    properties: frozenset[_Value]
    """Without that which names package and version."""
    related: frozenset[str]
    """Images that it relates, its own left out."""


Statements: TypeAlias = dict[tuple[str, str], Statement]
"""By package and name of the bundle."""


def statement_of(meta: Meta) -> Statement:
    """The statement of an `olm.bundle` that can be read."""
    fields = schemas.BUNDLE.read(meta.fields)
    image = fields.get("image") or ""
    properties = map(schemas.PROPERTY.read, fields.get("properties") or ())
    values = (_value(one.get("type") or "", one.get("value")) for one in properties)
    related = {schemas.RELATED_IMAGE.read(one).get("image") or "" for one in fields.get("relatedImages") or ()}
    return Statement(image, frozenset(one for one in values if one.type != PACKAGE), frozenset(related - {image, ""}))


def _value(kind: str, value: object) -> _Value:
    text = json_text(value, escapes_html=False)
    is_long = len(text) >= _SHOWN
    return _Value(kind, hashlib.sha256(text.encode()).hexdigest() if is_long else text, is_long)


def differences(older: Statement, newer: Statement) -> Iterator[str]:
    """The differences, as ends of sentences about the bundle."""
    if older.image != newer.image:
        loose = ", a tag, which can be moved" if "@" in older.image and "@" not in newer.image else ""
        yield f"has the image {newer.image or 'none'}{loose}; it had {older.image or 'none'}"
    gone, new = older.properties - newer.properties, newer.properties - older.properties
    long = {one.type for one in gone | new if one.is_digest}
    yield from (f"states another {kind}" for kind in sorted(long))
    for what, properties in (("no longer states", gone), ("now states", new)):
        yield from (f"{what} {one.type} {one.value}" for one in sorted(properties) if one.type not in long)
    for what, images in (("no longer relates", older.related - newer.related),
                         ("now relates", newer.related - older.related)):  # fmt: skip
        if images:
            yield f"{what} the image{'s' if len(images) > 1 else ''} {', '.join(sorted(images))}"
