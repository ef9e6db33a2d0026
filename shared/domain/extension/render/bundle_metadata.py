"""What the metadata of a bundle says: its package, and properties for its version (v1.md §16.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from shared.api.manifest import Manifest, ReadOnly
from shared.domain.bundle.annotations import CHANNELS, DEFAULT_CHANNEL, PACKAGE, text_of
from shared.domain.bundle.model import Files
from shared.domain.catalog.schemas import PROPERTY
from shared.domain.catalog.shapes import RAW, Struct, list_of, struct, why_not
from shared.domain.extension.render.model import NotRenderedError
from shared.domain.go import json as gojson
from shared.domain.go import yaml as goyaml
from shared.domain.go.encode import json_text, ordered

_ANNOTATIONS: Final = "metadata/annotations.yaml"
_PROPERTIES: Final = "metadata/properties.yaml"
_ANNOTATION: Final = "olm.properties"
_IN_ANNOTATION: Final = f"failed to unmarshal csv.metadata.annotations['{_ANNOTATION}']"
_WHILE_DECODING: Final = "error unmarshaling JSON: while decoding JSON: "
_LIST: Final = list_of(PROPERTY)
_FILED: Final = "RegistryV1Properties.properties"
_ANNOTATIONS_FILE: Final = struct("registry.AnnotationsFile", annotations=RAW)
_NAMES: Final = struct("registry.Annotations", f"{DEFAULT_CHANNEL} {CHANNELS} {PACKAGE}")
_PROPERTIES_FILE: Final = struct("source.RegistryV1Properties", properties=RAW)


class _MistypedError(ValueError):
    """A value is not of the type of its field, in the words of Go."""

    def __init__(self, value: object, field: str, kind: str) -> None:
        super().__init__(gojson.misfit(gojson.kind_of(value), kind, field))


def package_of(files: Files, why: str) -> str:
    """The name of the package; empty when the annotations have none. `why` is said of a missing file."""
    if _ANNOTATIONS not in files:
        raise NotRenderedError(f"open {_ANNOTATIONS}: {why}")
    try:
        annotations = _annotations(_document(files[_ANNOTATIONS]))
    except _MistypedError as error:
        raise NotRenderedError(f"{_WHILE_DECODING}{error}") from error
    return text_of(annotations.get(PACKAGE))


def _annotations(document: object) -> ReadOnly:
    found = _object(document, "", _ANNOTATIONS_FILE).get("annotations")
    annotations = _object(found, "AnnotationsFile.annotations", _NAMES)
    for key in _NAMES.fields:
        if isinstance(annotations.get(key), Mapping | list):
            raise _MistypedError(annotations[key], f"Annotations.annotations.{key}", "string")
    return annotations


def _document(content: bytes) -> Any:  # why: any JSON value
    try:
        return goyaml.document(content)
    except goyaml.YamlError as error:
        raise NotRenderedError(f"error converting YAML to JSON: {error.go_message}") from error


def _object(value: object, field: str, shape: Struct) -> ReadOnly:
    """The fields of an object, whatever the case of their names."""
    if value is not None and not isinstance(value, Mapping):
        raise _MistypedError(value, field, shape.go)
    return shape.read(value)


def with_properties(csv: Manifest, files: Files) -> Manifest:
    """The version with the properties of the metadata in its annotation, behind those that are there."""
    annotations = csv["metadata"].get("annotations") or {}
    annotated = _annotated(annotations[_ANNOTATION]) if _ANNOTATION in annotations else []
    if not files.get(_PROPERTIES):
        return csv
    try:
        merged = [*annotated, *_filed(_document(files[_PROPERTIES]))]
    except _MistypedError as error:
        raise NotRenderedError(f"failed to unmarshal {_PROPERTIES}: {_WHILE_DECODING}{error}") from error
    except NotRenderedError as error:
        raise NotRenderedError(f"failed to unmarshal {_PROPERTIES}: {error}") from error
    text = json_text(merged, is_sorted=False) if merged else "null"
    return {**csv, "metadata": {**csv["metadata"], "annotations": {**annotations, _ANNOTATION: text}}}


def _annotated(text: str) -> list[Manifest]:
    """The properties that a version states itself."""
    try:
        found = gojson.loads(text.encode())
    except gojson.JsonError as error:
        raise NotRenderedError(f"{_IN_ANNOTATION}: {error}") from error
    if why := why_not(_LIST, found):
        raise NotRenderedError(f"{_IN_ANNOTATION}: {why}")
    return [{"type": one.get("type") or "", "value": one.get("value")} for one in map(PROPERTY.read, found or ())]


def _filed(document: object) -> list[Manifest]:
    """The properties in the file, where any scalar is a text if one is wanted, because it is YAML."""
    listed = _object(document, "", _PROPERTIES_FILE).get("properties")
    if not isinstance(listed, list | None):
        raise _MistypedError(listed, _FILED, _LIST.go)
    found = [_object(one, _FILED, PROPERTY) for one in listed or ()]
    for one in found:
        if isinstance(one.get("type"), Mapping | list):
            raise _MistypedError(one["type"], "Property.properties.type", "string")
    return [{"type": text_of(one.get("type")), "value": ordered(one.get("value"))} for one in found]
