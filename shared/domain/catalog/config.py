"""A catalog as five lists of documents in the form in which they are written (fbc.md §2.4, §8.1)."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from shared.domain.catalog import schemas, shapes
from shared.domain.catalog.blobs import Unreadable
from shared.domain.catalog.meta import Meta, meta_of, refusal
from shared.domain.catalog.model import Entry
from shared.domain.go import stream as gostream
from shared.domain.go.encode import ordered

Blob: TypeAlias = Mapping[str, Any]  # why: any JSON values
"""A document as it is written: known fields in a fixed order, empty ones left out."""


@dataclass(slots=True)
class Config:
    """The documents of a catalog, whether or not they fit together."""

    packages: list[Blob] = field(default_factory=list)
    channels: list[Blob] = field(default_factory=list)
    bundles: list[Blob] = field(default_factory=list)
    deprecations: list[Blob] = field(default_factory=list)
    others: list[Meta] = field(default_factory=list)
    """Documents of other schemas, kept as they are."""

    def add(self, meta: Meta) -> None:
        """Sort one document in. Unreadable when its fields have the wrong types, or when it has no schema."""
        if not meta.schema:
            raise Unreadable("object is missing root schema field")
        if meta.schema not in _KNOWN:
            self.others.append(meta)
            return
        what, written = _KNOWN[meta.schema]
        shape = schemas.DOCUMENTS[meta.schema]
        if not shape.fits(meta.fields):
            raise Unreadable(f"parse {what}: {shapes.why_not(shape, meta.fields)}")
        getattr(self, f"{what}s").append(written(shape.read(meta.fields)))

    def extend(self, others: Config) -> None:
        """Put the documents of another catalog behind these."""
        self.packages += others.packages
        self.channels += others.channels
        self.bundles += others.bundles
        self.deprecations += others.deprecations
        self.others += others.others


def read_config(files: Iterable[tuple[str, bytes]]) -> Config:
    """The catalog in some files. Unreadable at the first document that is not valid, with its place."""
    config = Config()
    for name, content in files:
        for part in gostream.parts(content, refusal):
            if why := part.error or _added(config, part.value):
                raise Unreadable(f"{why} ({name}, document {part.number})")
    return config


def _added(config: Config, value: Blob | None) -> str:
    try:
        config.add(meta_of(value))
    except Unreadable as error:
        return str(error)
    return ""


def _property_list(values: Iterable[Blob | None]) -> list[Blob]:
    """Properties in the form in which they are written."""
    found = (schemas.PROPERTY.read(one) for one in values)
    return [{"type": one.get("type") or "", "value": ordered(one.get("value"))} for one in found]


def _package(fields: Blob) -> Blob:
    icon = fields.get("icon")
    return _without_empty(
        {
            "schema": "olm.package",
            "name": fields.get("name") or "",
            "defaultChannel": fields.get("defaultChannel") or "",
            "icon": _icon(schemas.ICON.read(icon)) if icon is not None else None,
            "description": fields.get("description"),
            "properties": _property_list(fields.get("properties") or ()),
        },
        keep=("name", "defaultChannel"),
    )


def _icon(fields: Blob) -> Blob:
    data = fields.get("base64data")
    return {
        "base64data": None if data is None else base64.b64encode(shapes.octets(data)).decode(),
        "mediatype": fields.get("mediatype") or "",
    }


def _channel(fields: Blob) -> Blob:
    entries = fields.get("entries")
    return _without_empty(
        {
            "schema": "olm.channel",
            "name": fields.get("name") or "",
            "package": fields.get("package") or "",
            "entries": None if entries is None else [Entry.of(schemas.ENTRY.read(one)).document() for one in entries],
            "properties": _property_list(fields.get("properties") or ()),
        },
        keep=("name", "package", "entries"),
    )


def _bundle(fields: Blob) -> Blob:
    images = [schemas.RELATED_IMAGE.read(one) for one in fields.get("relatedImages") or ()]
    return _without_empty(
        {
            "schema": "olm.bundle",
            "name": fields.get("name"),
            "package": fields.get("package"),
            "image": fields.get("image") or "",
            "properties": _property_list(fields.get("properties") or ()),
            "relatedImages": [{"name": one.get("name") or "", "image": one.get("image") or ""} for one in images],
        },
        keep=("image",),
    )


def _deprecation(fields: Blob) -> Blob:
    entries = fields.get("entries")
    return {
        "schema": "olm.deprecations",
        "package": fields.get("package") or "",
        "entries": None if entries is None else [_notice(schemas.NOTICE.read(one)) for one in entries],
    }


def _notice(fields: Blob) -> Blob:
    reference = schemas.REFERENCE.read(fields.get("reference"))
    written = _without_empty({"schema": reference.get("schema") or "", "name": reference.get("name")}, keep=("schema",))
    return {"reference": written, "message": fields.get("message") or ""}


def _without_empty(fields: Blob, *, keep: tuple[str, ...]) -> Blob:
    return {key: value for key, value in fields.items() if value or key in keep}


_KNOWN: Final = {
    "olm.package": ("package", _package),
    "olm.channel": ("channel", _channel),
    "olm.bundle": ("bundle", _bundle),
    "olm.deprecations": ("deprecation", _deprecation),
}
