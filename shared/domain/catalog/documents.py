"""The documents of a file-based catalog, grouped by package (fbc.md §2.2–2.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from shared.api.manifest import ReadOnly
from shared.domain.catalog import schemas, shapes
from shared.domain.catalog.meta import meta_of, refusal
from shared.domain.catalog.model import BUNDLE_OBJECT, CSV_METADATA
from shared.domain.catalog.validation_result import NOWHERE, Place
from shared.domain.go import stream as gostream

HEAVY: Final = (BUNDLE_OBJECT, CSV_METADATA)
"""Types of properties that describe a bundle, or repeat its content; the resolver does not need them."""
_KEYS_SHOWN: Final = 5


class NotACatalog(ValueError):
    """A file is not part of a file-based catalog."""

    def __init__(self, why: str, place: Place = NOWHERE) -> None:
        super().__init__(why, place)
        self.why = why
        self.place = place

    def __str__(self) -> str:
        """The file, the document, its line, and the reason."""
        return f"{self.place}: {self.why}" if self.place != NOWHERE else self.why


@dataclass(frozen=True, slots=True)
class Document:
    """One object of a catalog and its place."""

    where: str
    """File and number of the document, e.g. `etcd/catalog.yaml, document 3`."""
    schema: str
    package: str
    name: str
    fields: ReadOnly

    @classmethod
    def of(cls, where: str, value: Any) -> Document | str:  # why: any JSON value
        """The document in a value, or why the value is not a document."""
        if value is None:
            return "it is empty: every document of a catalog is an object with a schema"
        if why := refusal(value):
            return why
        meta = meta_of(value)
        if not meta.schema:
            keys = ", ".join(sorted(meta.fields)[:_KEYS_SHOWN]) or "none"
            return f"missing root schema field (its fields: {keys})"
        return cls(where, meta.schema, meta.package, meta.name, meta.fields)

    @property
    def owner(self) -> str:
        """The name of the package that the document is about."""
        return self.name if self.schema == "olm.package" else self.package


@dataclass(slots=True)
class PackageDocuments:
    """What a catalog says about one package, in document order."""

    packages: list[Document] = field(default_factory=list)
    channels: list[Document] = field(default_factory=list)
    bundles: list[Document] = field(default_factory=list)
    deprecations: list[Document] = field(default_factory=list)

    @classmethod
    def of(cls, documents: Iterable[Document]) -> PackageDocuments:
        """The documents of a package by their schema; those of other schemas are left out, as OLM does."""
        found = cls()
        for document in documents:
            if document.schema in _LISTS:
                getattr(found, _LISTS[document.schema]).append(document)
        return found

    @property
    def is_empty(self) -> bool:
        """Whether there are no documents that define a package."""
        return not (self.packages or self.channels or self.bundles or self.deprecations)


def read(path: str, text: str | bytes) -> Iterator[Document]:
    """The documents of one file. NotACatalog at the first value that is not a document."""
    content = text.encode() if isinstance(text, str) else text
    for part in gostream.parts(content, refusal):
        found = part.error or Document.of(f"{path}, document {part.number}", part.value)
        if isinstance(found, str):
            line = content.count(b"\n", 0, part.offset) + 1
            raise NotACatalog(found, Place(path, part.number, part.offset, line))
        yield found


_LISTS: Final = {
    "olm.package": "packages",
    "olm.channel": "channels",
    "olm.bundle": "bundles",
    "olm.deprecations": "deprecations",
}


def light(document: Document) -> Document:
    """A document without descriptions, which are nine tenths of a large catalog; its fields in their usual spelling."""
    if document.schema not in _NEEDED:
        return replace(document, fields={})
    read = schemas.DOCUMENTS[document.schema].read(document.fields)
    fields = {name: canonical(document.schema, name, read.get(name)) for name in _NEEDED[document.schema]}
    if isinstance(properties := fields.get("properties"), list):
        fields["properties"] = [one for one in properties if not (isinstance(one, dict) and one.get("type") in HEAVY)]
    return replace(document, fields=fields)


def canonical(schema: str, field_name: str, value: Any) -> Any:  # why: any JSON value
    """The value of a field of a document; if it is a list of objects, with their fields in their usual spelling."""
    shape = shapes.inner_of(schemas.DOCUMENTS[schema].fields[field_name])
    if not isinstance(shape, shapes.Struct) or not isinstance(value, list):
        return value
    return [shape.read(one) if isinstance(one, dict) else one for one in value]


_NEEDED: Final = {
    "olm.package": ("defaultChannel",),
    "olm.channel": ("entries",),
    "olm.bundle": ("image", "properties"),
    "olm.deprecations": ("entries",),
}
