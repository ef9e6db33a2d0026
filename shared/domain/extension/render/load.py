"""The files of a bundle, read as OLM v1 reads them (v1.md §16.1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from shared import kinds
from shared.api.manifest import Manifest
from shared.domain.bundle.model import Files
from shared.domain.bundle.reading import FILE_BYTES
from shared.domain.extension.render.bundle_metadata import package_of, with_properties
from shared.domain.extension.render.model import Bundle, NotRenderedError
from shared.domain.go import json as gojson
from shared.domain.go import stream as gostream
from shared.domain.go.encode import json_text
from shared.domain.go.text import quoted
from shared.domain.go_types.dialects import CONVERTER, JSON
from shared.domain.go_types.engine import MisfitError

MANIFESTS: Final = "manifests"
_CSV: Final = kinds.CLUSTER_SERVICE_VERSION.kind
_DETECTOR: Final = "unstructured.detector"
_CRD: Final = kinds.CUSTOM_RESOURCE_DEFINITION.kind


def load(files: Files, *, is_in_memory: bool = False) -> Bundle:
    """The bundle in these files. NotRenderedError when OLM v1 cannot read it.

    Files that are not there are missed in other words when none of them ever was on a disk.
    """
    why = "file does not exist" if is_in_memory else "no such file or directory"
    package = package_of(files, why)
    missing = f"{'open' if is_in_memory else 'stat'} {MANIFESTS}: {why}"
    csv: Manifest | None = None
    definitions: list[Manifest] = []
    others: list[Manifest] = []
    for path in _manifest_paths(files, missing):
        for manifest in _objects(path, files[path]):
            try:
                if manifest["kind"] == _CSV:
                    csv = CONVERTER.read(manifest, _CSV)
                elif manifest["kind"] == _CRD:
                    definitions.append(CONVERTER.read(manifest, _CRD))
                else:
                    others.append(manifest)
            except MisfitError as error:
                raise _unreadable(path, str(error)) from error
    if csv is None:
        raise NotRenderedError(f"no {_CSV} found in {quoted(MANIFESTS)}")
    return Bundle(package, with_properties(csv, files), tuple(definitions), tuple(others))


def _unreadable(path: str, why: str) -> NotRenderedError:
    return NotRenderedError(f"error parsing objects in {quoted(path)}: {why}")


def _manifest_paths(files: Files, missing: str) -> Iterator[str]:
    """The manifests in the order of their names, each looked at when its turn comes."""
    inside = {path.split("/", 2)[1]: path for path in files if path.startswith(f"{MANIFESTS}/")}
    if not inside:
        raise NotRenderedError(missing)
    for name in sorted(inside):
        path = f"{MANIFESTS}/{name}"
        if inside[name] != path:
            what = f"subdirectories are not allowed within the {quoted(MANIFESTS)} directory of the bundle image"
            raise NotRenderedError(f"{what} filesystem: found {quoted(path)}")
        yield path


def _objects(path: str, content: bytes) -> Iterator[Manifest]:
    """The objects of a file, those inside lists one by one."""
    if len(content) > FILE_BYTES:
        raise _unreadable(
            path, f"the file has more than {FILE_BYTES} bytes, which no API server stores; make it smaller"
        )
    for part in gostream.parts(content):
        if part.error:
            raise _unreadable(path, f"error parsing {path}: {part.error}")
        if part.value is not None:
            try:
                yield from _flat(part.value, _text_of(content, part))
            except MisfitError as error:
                raise _unreadable(path, f"unable to decode {quoted(path)}: {error}") from error
            except _NoKindError as error:
                raise _unreadable(path, str(error)) from error


class _NoKindError(ValueError):
    """An object of a list does not say what it is."""


def _text_of(content: bytes, part: gostream.Part) -> str:
    """The JSON of an object, as it stands in its file or as it is made of YAML."""
    if not part.is_json:
        return json_text(part.value)
    return content[part.offset : gojson.first(content, part.offset)[1]].decode("utf-8", "replace")


def _flat(value: object, text: str) -> Iterator[Manifest]:
    if not isinstance(value, dict):
        raise _misfit(value, _DETECTOR)
    kind = value.get("kind")
    if not isinstance(kind, str) or not kind:
        raise MisfitError(f"Object 'Kind' is missing in '{text}'")
    if "items" in value:
        yield from _items(value, kind)
    else:
        _check_metadata(value)
        yield value


def _misfit(value: object, desired: str, field: str = "") -> MisfitError:
    return MisfitError(gojson.misfit(gojson.kind_of(value), desired, field))


def _check_metadata(manifest: Manifest) -> None:
    meta = manifest.get("metadata")
    if isinstance(meta, dict):
        JSON.read(meta, "ObjectMeta", "metadata")
    elif meta is not None:
        raise _misfit(meta, "v1.ObjectMeta", "metadataOnlyObject.metadata")


def _items(listed: Manifest, kind: str) -> Iterator[Manifest]:
    """The objects of a list; those of a typed one need not say what they are."""
    items = listed["items"]
    if items is not None and not isinstance(items, list):
        raise _misfit(items, "[]json.RawMessage", "decodeList.items")
    for item in items or ():
        if not isinstance(item, dict | None):
            raise _misfit(item, "map[string]interface {}")
        manifest = item or {}
        if not manifest.get("kind") and not manifest.get("apiVersion"):
            manifest = {**manifest, "kind": kind.removesuffix("List"), "apiVersion": listed.get("apiVersion") or ""}
        if not manifest.get("kind"):
            what = 'unable to get type info from the object "*unstructured.Unstructured"'
            raise _NoKindError(f"{what}: Object 'Kind' is missing in 'object has no kind field '")
        yield manifest
