"""What a bundle provides and requires, as properties of a catalog (fbc.md §9.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import orjson

from shared.api.manifest import Manifest, ReadOnly, annotations_of
from shared.domain.bundle.model import ParsedBundle
from shared.domain.bundle.shape import as_list, as_object
from shared.domain.catalog.model import Property

PACKAGE: Final = "olm.package"
PACKAGE_REQUIRED: Final = "olm.package.required"
GVK: Final = "olm.gvk"
GVK_REQUIRED: Final = "olm.gvk.required"
_CSV_ANNOTATION: Final = "olm.properties"

_Pair: TypeAlias = tuple[str, Any]  # why: any JSON value


def properties(bundle: ParsedBundle) -> tuple[Property, ...]:
    """All properties of a bundle, each once, sorted by type and value."""
    stated = [*bundle.properties, *_annotated(bundle.csv)]
    own = (PACKAGE, _package(bundle))
    packages = [value for kind, value in (*bundle.properties, own, *_annotated(bundle.csv)) if kind == PACKAGE]
    pairs = [
        (PACKAGE, packages[-1]),
        *((kind, _gvk(value) if kind == GVK else value) for kind, value in stated if kind != PACKAGE),
        *((GVK, value) for value in _provided(bundle)),
        *((GVK_REQUIRED, value) for value in _required(bundle.csv)),
        *map(_dependency, bundle.dependencies),
    ]
    return tuple(Property(kind, value) for kind, value in _sorted_once(pairs))


def _package(bundle: ParsedBundle) -> Manifest:
    release = as_object(bundle.csv.get("spec")).get("release")
    identity = {"packageName": bundle.annotations.package, "version": bundle.version}
    return identity if release in (None, "") else identity | {"release": str(release)}


def _annotated(csv: ReadOnly) -> list[_Pair]:
    try:
        listed = orjson.loads(annotations_of(csv).get(_CSV_ANNOTATION) or "[]")
    except orjson.JSONDecodeError:
        return []  # as in OLM: an unreadable annotation states nothing
    if not isinstance(listed, list):
        return []
    return [(str(entry.get("type")), entry.get("value")) for entry in listed if isinstance(entry, dict)]


def _gvk(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {key: str(value.get(key) or "") for key in ("group", "kind", "version")}


def _definitions(csv: ReadOnly, field: str, side: str) -> Iterator[ReadOnly]:
    listed = as_object(as_object(csv.get("spec")).get(field)).get(side)
    yield from (entry for entry in as_list(listed) if isinstance(entry, Mapping))


def _provided(bundle: ParsedBundle) -> Iterator[Manifest]:
    for manifest in bundle.objects:
        if manifest["kind"] == "CustomResourceDefinition":
            yield from _defined(as_object(manifest.get("spec")))
    yield from map(_gvk, _definitions(bundle.csv, "apiservicedefinitions", "owned"))


def _defined(spec: ReadOnly) -> Iterator[Manifest]:
    """Every version of a definition; the older API names a single one apart from the list."""
    kind = as_object(spec.get("names")).get("kind")
    names = [as_object(version).get("name") for version in as_list(spec.get("versions"))]
    for name in dict.fromkeys(str(name) for name in (*names, spec.get("version")) if name):
        yield _gvk({"group": spec.get("group"), "kind": kind, "version": name})


def _required(csv: ReadOnly) -> Iterator[Manifest]:
    for entry in _definitions(csv, "customresourcedefinitions", "required"):
        yield _gvk({**entry, "group": str(entry.get("name") or "").partition(".")[2]})
    yield from map(_gvk, _definitions(csv, "apiservicedefinitions", "required"))


def _dependency(entry: _Pair) -> _Pair:
    kind, value = entry
    if kind == GVK:
        return GVK_REQUIRED, _gvk(value)
    if kind == PACKAGE and isinstance(value, Mapping):
        return PACKAGE_REQUIRED, {"packageName": value.get("packageName"), "versionRange": value.get("version")}
    return entry


def _sorted_once(pairs: Iterable[_Pair]) -> list[_Pair]:
    by_text = {(kind, orjson.dumps(value)): (kind, value) for kind, value in pairs}
    return [by_text[key] for key in sorted(by_text)]
