"""What the metadata of a bundle says: its package, and properties for its version (v1.md §16.1)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from shared.api.manifest import Manifest, ReadOnly
from shared.domain.bundle.annotations import CHANNELS, DEFAULT_CHANNEL, PACKAGE, text_of
from shared.domain.bundle.model import Files
from shared.domain.catalog.schemas import PROPERTY
from shared.domain.catalog.shapes import RAW, Struct, struct
from shared.domain.extension.render.goscalars import name_of_json
from shared.domain.extension.render.model import NotRenderedError
from shared.domain.go import json as gojson
from shared.domain.go import yaml as goyaml
from shared.domain.go.encode import json_text

_ANNOTATIONS: Final = "metadata/annotations.yaml"
_PROPERTIES: Final = "metadata/properties.yaml"
_ANNOTATION: Final = "olm.properties"
_IN_ANNOTATION: Final = f"failed to unmarshal csv.metadata.annotations['{_ANNOTATION}']"
_WHILE_DECODING: Final = "error unmarshaling JSON: while decoding JSON: "
_LIST: Final = "[]property.Property"
_ANNOTATIONS_FILE: Final = struct("registry.AnnotationsFile", annotations=RAW)
_NAMES: Final = struct("registry.Annotations", f"{DEFAULT_CHANNEL} {CHANNELS} {PACKAGE}")
_PROPERTIES_FILE: Final = struct("source.RegistryV1Properties", properties=RAW)


class _MistypedError(ValueError):
    """A value is not of the type of its field, in the words of Go."""

    def __init__(self, value: object, field: str, kind: str) -> None:
        where = f"Go struct field {field}" if field else "Go value"
        super().__init__(f"json: cannot unmarshal {name_of_json(value)} into {where} of type {kind}")


def package_of(files: Files, why: str) -> str:
    """The name of the package; empty when the annotations have none. `why` is said of a missing file."""
    if _ANNOTATIONS not in files:
        raise NotRenderedError(f"open {_ANNOTATIONS}: {why}")
    try:
        stated = _annotations(_document(files[_ANNOTATIONS]))
    except _MistypedError as error:
        raise NotRenderedError(f"{_WHILE_DECODING}{error}") from error
    return text_of(stated.get(PACKAGE))


def _annotations(document: object) -> ReadOnly:
    stated = _object(document, "", _ANNOTATIONS_FILE).get("annotations")
    annotations = _object(stated, "AnnotationsFile.annotations", _NAMES)
    for key in _NAMES.fields:
        if isinstance(annotations.get(key), Mapping | list):
            raise _MistypedError(annotations[key], f"Annotations.annotations.{key}", "string")
    return annotations


def _document(content: bytes) -> Any:  # why: any JSON value
    try:
        return goyaml.document(content)
    except goyaml.YamlError as error:
        raise NotRenderedError(f"error converting YAML to JSON: {error.told}") from error


def _object(value: object, field: str, shape: Struct) -> ReadOnly:
    """The fields of an object, whatever the case of their names."""
    if value is not None and not isinstance(value, Mapping):
        raise _MistypedError(value, field, shape.go)
    return shape.read(value)


def with_properties(csv: Manifest, files: Files) -> Manifest:
    """The version with the properties of the metadata in its annotation, behind those that are there."""
    annotations = csv["metadata"].get("annotations") or {}
    stated = _annotated(annotations[_ANNOTATION]) if _ANNOTATION in annotations else []
    if not files.get(_PROPERTIES):
        return csv
    try:
        merged = [*stated, *_filed(_document(files[_PROPERTIES]))]
    except _MistypedError as error:
        raise NotRenderedError(f"failed to unmarshal {_PROPERTIES}: {_WHILE_DECODING}{error}") from error
    except NotRenderedError as error:
        raise NotRenderedError(f"failed to unmarshal {_PROPERTIES}: {error}") from error
    text = json_text(merged, is_sorted=False) if merged else "null"
    return {**csv, "metadata": {**csv["metadata"], "annotations": {**annotations, _ANNOTATION: text}}}


def _annotated(text: str) -> list[Manifest]:
    """The properties that a version states itself."""
    try:
        found = _list(gojson.loads(text.encode()), "", _LIST)
        return [_property(one, "", text) for one in found]
    except _MistypedError as error:
        raise NotRenderedError(f"{_IN_ANNOTATION}: {error}") from error
    except gojson.JsonError as error:
        why = "unexpected end of JSON input" if str(error) == gojson.END else str(error)
        raise NotRenderedError(f"{_IN_ANNOTATION}: {why}") from error


def _filed(document: object) -> list[Manifest]:
    field = "RegistryV1Properties.properties"
    stated = _object(document, "", _PROPERTIES_FILE).get("properties")
    found = [_property(one, field) for one in _list(stated, field, _LIST)]
    return [{"type": one["type"], "value": json.loads(json_text(one["value"]))} for one in found]


def _list(value: object, field: str, kind: str) -> list[Any]:
    if value is not None and not isinstance(value, list):
        raise _MistypedError(value, field, kind)
    return value or []


def _property(stated: object, field: str, text: str = "") -> Manifest:
    """Type and value. In YAML any scalar is a text where one is wanted, in JSON it is not."""
    one = _object(stated, field, PROPERTY)
    kind = one.get("type")
    is_wrong = not isinstance(kind, str) if text else isinstance(kind, Mapping | list)
    if kind is not None and is_wrong:
        raise _MistypedError(kind, f"Property.{field.partition('.')[2]}.type".replace("..", "."), "string")
    return {"type": text_of(kind), "value": one.get("value")}
