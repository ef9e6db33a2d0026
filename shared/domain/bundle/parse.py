"""Reads the files of a bundle (fbc.md §9.2, §9.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from shared.api.manifest import Manifest, name_of
from shared.domain.bundle.annotations import PACKAGE, Annotations, text_of
from shared.domain.bundle.annotations import parse as parse_annotations
from shared.domain.bundle.apis import ApiError, check_owned, check_types
from shared.domain.bundle.model import CRD, CSV, BadBundle, Files, ParsedBundle
from shared.domain.bundle.properties import PropertyError, properties
from shared.domain.bundle.reading import MANIFESTS, METADATA, Documents, Passed, documents
from shared.domain.bundle.shape import defect
from shared.domain.catalog.schemas import PROPERTY
from shared.domain.catalog.shapes import RAW, Struct, struct
from shared.domain.go.encode import ordered

_DEPENDENCIES: Final = struct("registry.DependenciesFile", dependencies=RAW)
_PROPERTIES: Final = struct("registry.PropertiesFile", properties=RAW)
_READ: Final = (CSV, CRD)
"""The kinds whose fields are looked at; all others are only carried along."""

Parsed: TypeAlias = ParsedBundle | BadBundle


def parse(files: Files, where: str, *, is_complete: bool = False) -> Parsed:
    """The bundle in `manifests/` and `metadata/`, or why there is none; `where` begins that sentence.

    A complete bundle holds every definition that its ClusterServiceVersion owns; that is what `opm` demands.
    """
    return parse_documents(documents(files, MANIFESTS), documents(files, METADATA), where, is_complete=is_complete)


def parse_documents(manifests: Documents, metadata: Documents, where: str, *, is_complete: bool = False) -> Parsed:
    """As `parse`, for documents that were read before."""
    found = _parsed(manifests, metadata, where)
    if isinstance(found, ParsedBundle) and (why := _wrong(found, is_complete=is_complete)):
        return BadBundle("Malformed", f"{where}: {why}", why)
    return found


def _parsed(manifests: Documents, metadata: Documents, where: str) -> Parsed:
    found, passed = manifests.objects()
    csvs = [path for path, one in found.items() if one["kind"] == CSV]
    if not csvs:
        why = "; ".join(map(str, passed)) or "add one"
        what = "no csv in bundle" if found else "no bundle objects found"
        return BadBundle("NoClusterServiceVersion", f"{where}: no ClusterServiceVersion in manifests/; {why}", what)
    for path, manifest in found.items():
        if manifest["kind"] in _READ and (why := defect(manifest)):
            return BadBundle("Malformed", f"{where}: {path}: this is no {manifest['kind']}: {why}; correct it", why)
    if not name_of(csv := found[csvs[0]]):
        what = "the ClusterServiceVersion has no metadata.name"
        return BadBundle("Malformed", f"{where}: {csvs[0]}: {what}; give it one", what)
    others = tuple(Passed(path, f"{path} is a second {CSV}, which nobody reads; remove it")
                   for path in csvs[1:])  # fmt: skip
    objects = {path: one for path, one in found.items() if path not in csvs[1:]}
    bundle = _with_metadata(metadata, where, csv, tuple(objects.values()))
    if isinstance(bundle, BadBundle):
        return bundle
    return replace(bundle, warnings=(*(f"{where}: {one}" for one in (*passed, *others)), *bundle.warnings))


def _with_metadata(metadata: Documents, where: str, csv: Manifest, objects: tuple[Manifest, ...]) -> Parsed:
    labels = _annotations(metadata.by_path.values())
    if labels is None or not labels.package:
        why = "; ".join(map(str, metadata.passed)) or f"add the annotation {PACKAGE}"
        sentence = f"{where}: no metadata/annotations.yaml names its package; {why}"
        return BadBundle("Malformed", sentence, "Could not find annotations file" if labels is None else "")
    return ParsedBundle(
        csv,
        objects,
        labels,
        _entries(metadata, _DEPENDENCIES),
        _entries(metadata, _PROPERTIES),
        tuple(f"{where}: {one}" for one in metadata.passed),
    )


def _wrong(bundle: ParsedBundle, *, is_complete: bool) -> str:
    """Why its ClusterServiceVersion or its metadata are not valid; empty when they are."""
    try:
        if is_complete:
            check_types(bundle)
            check_owned(bundle)
        properties(bundle)
    except (ApiError, PropertyError) as error:
        return str(error)
    return ""


def _annotations(found: Iterable[Any]) -> Annotations | None:
    return next(filter(None, map(parse_annotations, found)), None)


def _entries(found: Documents, shape: Struct) -> tuple[tuple[str, Any], ...]:
    """Type and value of each entry of the first document with such a list; what comes from YAML is sorted by keys."""
    [field] = shape.fields
    for path, document in found.by_path.items():
        listed = shape.read(document).get(field) if isinstance(document, Mapping) else None
        if isinstance(listed, list) and listed:
            entries = (PROPERTY.read(entry) for entry in listed if isinstance(entry, dict))
            pairs = ((text_of(entry.get("type")), entry.get("value")) for entry in entries)
            return tuple((kind, value if path in found.in_json else ordered(value)) for kind, value in pairs)
    return ()
