"""The files of a bundle, read as OLM v1 reads them (v1.md §16.1)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from shared import kinds
from shared.api.manifest import Manifest, ReadOnly
from shared.domain import gojson, gostream, goyaml
from shared.domain.bundle.annotations import PACKAGE, text_of
from shared.domain.bundle.encoding import json_text
from shared.domain.bundle.model import Files
from shared.domain.extension.render.goscalars import MisfitError
from shared.domain.extension.render.gotypes import converted
from shared.domain.extension.render.model import Bundle, NotRenderedError
from shared.domain.gotext import quoted

MANIFESTS: Final = "manifests"
_ANNOTATIONS: Final = "metadata/annotations.yaml"
_PROPERTIES_FILE: Final = "metadata/properties.yaml"
_PROPERTIES: Final = "olm.properties"
_CSV: Final = kinds.CLUSTER_SERVICE_VERSION.kind
_CRD: Final = kinds.CUSTOM_RESOURCE_DEFINITION.kind


def load(files: Files) -> Bundle:
    """The bundle in these files. NotRenderedError when OLM v1 cannot read it."""
    package = _package(files)
    csv: Manifest | None = None
    definitions: list[Manifest] = []
    others: list[Manifest] = []
    for path in _manifest_paths(files):
        for manifest in _objects(path, files[path]):
            try:
                if manifest["kind"] == _CSV:
                    csv = converted(manifest, _CSV)
                elif manifest["kind"] == _CRD:
                    definitions.append(converted(manifest, _CRD))
                else:
                    others.append(manifest)
            except MisfitError as error:
                raise _unreadable(path, str(error)) from error
    if csv is None:
        raise NotRenderedError(f"no {_CSV} found in {quoted(MANIFESTS)}")
    return Bundle(package, _with_properties(csv, files), tuple(definitions), tuple(others))


def _unreadable(path: str, why: str) -> NotRenderedError:
    return NotRenderedError(f"error parsing objects in {quoted(path)}: {why}")


def _package(files: Files) -> str:
    if _ANNOTATIONS not in files:
        raise NotRenderedError(f"open {_ANNOTATIONS}: no such file or directory")
    document = _document(files[_ANNOTATIONS])
    stated = document.get("annotations")
    if stated is not None and not isinstance(stated, Mapping):
        raise NotRenderedError(_mistyped(stated, "AnnotationsFile.annotations", "registry.Annotations"))
    return text_of((stated or {}).get(PACKAGE))


def _document(content: bytes) -> ReadOnly:
    """A metadata file, which is an object."""
    try:
        document = goyaml.document(content)
    except goyaml.YamlError as error:
        raise NotRenderedError(f"error converting YAML to JSON: {error.told}") from error
    if document is not None and not isinstance(document, Mapping):
        raise NotRenderedError(_mistyped(document, "", "registry.AnnotationsFile"))
    return document or {}


def _mistyped(value: object, field: str, kind: str) -> str:
    where = f"Go struct field {field}" if field else "Go value"
    got = {str: "string", bool: "bool", list: "array", dict: "object"}.get(type(value), "number")
    return f"error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {got} into {where} of type {kind}"


def _manifest_paths(files: Files) -> Iterator[str]:
    """The manifests in the order of their names, each looked at when its turn comes."""
    inside = {path.split("/", 2)[1]: path for path in files if path.startswith(f"{MANIFESTS}/")}
    if not inside:
        raise NotRenderedError(f"stat {MANIFESTS}: no such file or directory")
    for name in sorted(inside):
        path = f"{MANIFESTS}/{name}"
        if inside[name] != path:
            what = f"subdirectories are not allowed within the {quoted(MANIFESTS)} directory of the bundle image"
            raise NotRenderedError(f"{what} filesystem: found {quoted(path)}")
        yield path


def _objects(path: str, content: bytes) -> Iterator[Manifest]:
    """The objects of a file, those inside lists one by one."""
    for part in gostream.parts(content):
        if part.error:
            raise _unreadable(path, f"error parsing {path}: {part.error}")
        if part.value is None:
            continue
        yield from _flat(path, part.value)


def _flat(path: str, value: object) -> Iterator[Manifest]:
    if not isinstance(value, dict):
        raise _unreadable(path, f"unable to decode {quoted(path)}: {_no_object(value)}")
    kind = value.get("kind")
    if not isinstance(kind, str) or not kind:
        why = f"Object 'Kind' is missing in '{json_text(value)}'"
        raise _unreadable(path, f"unable to decode {quoted(path)}: {why}")
    if not isinstance(value.get("items"), list):
        yield value
        return
    for item in value["items"]:
        yield from _flat(path, _item_of(value, kind, item))


def _item_of(listed: Manifest, kind: str, item: object) -> object:
    """An object of a typed list need not say what it is."""
    if not isinstance(item, dict) or item.get("kind") or item.get("apiVersion"):
        return item
    return {**item, "kind": kind.removesuffix("List"), "apiVersion": listed.get("apiVersion") or ""}


def _no_object(value: object) -> str:
    what = {str: "string", bool: "bool", list: "array"}.get(type(value), "number")
    return f"json: cannot unmarshal {what} into Go value of type unstructured.detector"


def _with_properties(csv: Manifest, files: Files) -> Manifest:
    """The version with the properties of the metadata in its annotation, behind those that are there."""
    annotations = csv["metadata"].get("annotations") or {}
    stated: list[Any] = []
    if _PROPERTIES in annotations:
        stated = _annotated(annotations[_PROPERTIES])
    content = files.get(_PROPERTIES_FILE)
    if not content:
        return csv
    try:
        document = _document(content)
    except NotRenderedError as error:
        raise NotRenderedError(f"failed to unmarshal {_PROPERTIES_FILE}: {error}") from error
    merged = [*stated, *map(_property, document.get("properties") or [])]
    text = json_text(merged, is_sorted=False) if merged else "null"
    return {**csv, "metadata": {**csv["metadata"], "annotations": {**annotations, _PROPERTIES: text}}}


def _annotated(text: str) -> list[Any]:
    try:
        stated = gojson.loads(text.encode())
        return list(map(_property, stated or []))
    except (gojson.JsonError, TypeError, AttributeError) as error:
        what = f"failed to unmarshal csv.metadata.annotations['{_PROPERTIES}']"
        raise NotRenderedError(f"{what}: {error}") from error


def _property(stated: ReadOnly) -> Manifest:
    return {"type": stated.get("type") or "", "value": json.loads(json_text(stated.get("value")))}
