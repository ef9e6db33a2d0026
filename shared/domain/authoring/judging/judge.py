"""Judges a catalog, file by file and then as a whole (fbc.md §6)."""

from __future__ import annotations

from dataclasses import dataclass, field

import orjson

from shared.domain.authoring.judging.advice import Advice, advise_document, advise_packages
from shared.domain.authoring.judging.conversion import convert
from shared.domain.authoring.judging.soundness import defects
from shared.domain.authoring.judging.statements import Statements, statement_of
from shared.domain.catalog.blobs import Blobs, Unreadable
from shared.domain.catalog.config import Config
from shared.domain.catalog.meta import Meta, meta_of, refusal
from shared.domain.catalog.validation_result import NOWHERE, Finding, Place, ValidationResult
from shared.domain.go import stream as gostream
from shared.domain.go.encode import json_text


@dataclass(slots=True)
class Reading:
    """The documents that were read so far, as far as rules need them."""

    blobs: Blobs = field(default_factory=Blobs)
    findings: list[Finding] = field(default_factory=list)
    advice: list[Advice] | None = None
    """The advice about documents; None when it is not wanted."""
    statements: Statements | None = None
    """The images and properties of bundles; None when they are not wanted."""

    def add_file(self, name: str, content: bytes) -> None:
        """Read one file; after a document that is not valid, the next one is read."""
        for part in gostream.parts(content, refusal):
            place = Place(name, part.number, part.offset)
            if part.error:
                self.findings.append(Finding(part.error, place))
            elif part.value is None:
                self._refuse("null\n" if part.is_json else "", place)
            else:
                self._add(meta_of(part.value), place)

    def _refuse(self, blob: str, place: Place) -> None:
        self.findings.append(Finding(f"object '{blob}' is missing root schema field", place, lacks_schema=True))

    def _add(self, meta: Meta, place: Place) -> None:
        if not meta.schema:
            self._refuse(_blob(meta), place)
            return
        try:
            self.blobs.add(meta, place)
        except Unreadable as error:
            self.findings.append(Finding(str(error), place))
        else:
            if self.statements is not None and meta.schema == "olm.bundle":
                self.statements[meta.package, meta.name] = statement_of(meta)
        if self.advice is not None:
            self.advice += advise_document(meta, _size(meta), place)

    def extend(self, later: Reading) -> None:
        """Add the documents of later files."""
        self.blobs.extend(later.blobs)
        self.findings += later.findings
        if self.advice is not None:
            self.advice += later.advice or ()
        if self.statements is not None:
            self.statements |= later.statements or {}

    def all_advice(self) -> list[Advice]:
        """The advice about the documents, and about the packages that they form."""
        return [*(self.advice or ()), *advise_packages(convert(self.blobs)[0])]

    def result(self) -> ValidationResult:
        """The judgement; each stage asks only when the one before found nothing."""
        return ValidationResult(tuple(self.findings)) if self.findings else _together(self.blobs)


def why_invalid(config: Config) -> str:
    """Why a catalog that was not read from files is not valid; empty when it is."""
    blobs = Blobs()
    for blob in (*config.packages, *config.channels, *config.bundles, *config.deprecations):
        try:
            blobs.add(meta_of(blob), NOWHERE)
        except Unreadable as error:
            return str(error)
    return _together(blobs).text(with_places=False)


def _together(blobs: Blobs) -> ValidationResult:
    """Whether documents that can be read fit together, and if so, whether the packages they make are sound."""
    drafts, findings = convert(blobs)
    return ValidationResult(tuple(findings or defects(drafts)))


def _blob(meta: Meta) -> str:
    """The document as JSON, in the form that is kept of it."""
    if not _size(meta):
        return f"an object with the fields {', '.join(sorted(meta.fields))}"
    return json_text(meta.fields, escapes_html=False) + "\n"


def _size(meta: Meta) -> int:
    """The bytes of a document without blanks; 0 of one that is too deep, or has a number too long, to be written."""
    try:
        return len(orjson.dumps(meta.fields))
    except orjson.JSONEncodeError:
        return 0
