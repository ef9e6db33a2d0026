"""What a bundle provides and requires, as properties of a catalog (fbc.md §9.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from shared import names
from shared.api.manifest import Manifest, ReadOnly, annotations_of
from shared.domain.bundle.apis import ApiError, provided, required
from shared.domain.bundle.model import ParsedBundle
from shared.domain.bundle.shape import as_object, is_deep
from shared.domain.catalog.model import GVK, GVK_REQUIRED, PACKAGE, PACKAGE_REQUIRED, Property
from shared.domain.catalog.schemas import PACKAGE_PROPERTY, PROPERTY, VALUES
from shared.domain.catalog.shapes import list_of, why_not
from shared.domain.go import json as gojson
from shared.domain.go.encode import json_text
from shared.domain.go.text import quoted
from shared.domain.go_types.plain import what_is

_PROPERTIES: Final = list_of(PROPERTY)
_API_FIELDS: Final = ("group", "kind", "version")

_Pair: TypeAlias = tuple[str, Any]  # why: any JSON value


class PropertyError(ValueError):
    """A bundle states an invalid property; the message is that of `opm`."""


def properties(bundle: ParsedBundle) -> tuple[Property, ...]:
    """All properties of a bundle but its objects, sorted by type and value. PropertyError when one is not valid."""
    listed = _declared(bundle)
    where = f"get properties for bundle {quoted(bundle.name)}"
    try:
        pairs = [*_own(listed), *_of_dependencies(bundle)]
    except ApiError as error:
        raise PropertyError(f"{where}: get required apis: {error}") from error
    except PropertyError as error:
        raise PropertyError(f"{where}: {error}") from error
    return tuple(Property(kind, value) for kind, value in sorted(pairs, key=_sort_key))


def first_version(bundle: ParsedBundle) -> str:
    """The version of the first package that it states: `metadata/properties.yaml` comes before the rest (§10.4)."""
    package = next(value for kind, value in _declared(bundle) if kind == PACKAGE)
    return str(PACKAGE_PROPERTY.read(package).get("version") or "")


def _sort_key(pair: _Pair) -> tuple[str, str]:
    """By type, then by the text of the value."""
    return pair[0], json_text(pair[1])


def _declared(bundle: ParsedBundle) -> list[_Pair]:
    """The properties that the bundle states itself, each once."""
    own = (PACKAGE, _package(bundle))
    apis = ((GVK, api) for api in provided(bundle))
    return _once([*bundle.properties, own, *_annotated(bundle.csv), *apis])


def _package(bundle: ParsedBundle) -> Manifest:
    spec = as_object(bundle.csv.get("spec"))
    version, release = spec.get("version"), _release_text(spec.get("release"))
    if version is not None and not isinstance(version, str):
        raise PropertyError(f"failed to derive properties: spec.version: wanted text, got {what_is(version)}")
    identity = {"packageName": bundle.annotations.package, "version": version or ""}
    return identity | {"release": release} if release else identity


def _release_text(value: object) -> str:
    """`spec.release` as text: numbers lose the form in which they were written."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PropertyError("failed to derive properties: release field must be a string or number")
    return json_text(value)


def _annotated(csv: ReadOnly) -> list[_Pair]:
    # As in OLM, an unreadable annotation states nothing.
    return parse_annotation(annotations_of(csv).get(names.V1_PROPERTIES, "")) or []


def parse_annotation(text: str) -> list[_Pair] | None:
    """Type and value of each property in the annotation `olm.properties`; None when it is not a list of properties."""
    try:
        listed = gojson.loads(text.encode())
    except gojson.JsonError:
        return None
    if why_not(_PROPERTIES, listed) or is_deep(listed):
        return None
    return [(one.get("type") or "", one.get("value")) for one in map(PROPERTY.read, listed or ())]


def _own(listed: Iterable[_Pair]) -> Iterator[_Pair]:
    package: list[Manifest] = []
    apis: list[_Pair] = []
    for index, (kind, value) in enumerate(listed):
        if kind == PACKAGE:
            package = [_fields(value, ("packageName", "version", "release"), index, kind)]
        elif kind == GVK:
            apis.append((GVK, _fields(value, _API_FIELDS, index, kind)))
        else:
            yield kind, value
    for one in package:
        yield PACKAGE, one if one["release"] else {key: one[key] for key in ("packageName", "version")}
    yield from _once(apis)


def _of_dependencies(bundle: ParsedBundle) -> Iterator[_Pair]:
    apis = []
    for index, (kind, value) in enumerate(bundle.dependencies):
        if kind == GVK:
            apis.append((GVK_REQUIRED, _fields(value, _API_FIELDS, index, kind)))
        elif kind == PACKAGE:
            fields = _fields(value, ("packageName", "version"), index, kind)
            yield PACKAGE_REQUIRED, {"packageName": fields["packageName"], "versionRange": fields["version"]}
        else:
            yield kind, value
    yield from _once([*apis, *((GVK_REQUIRED, api) for api in required(bundle.csv))])


def _fields(value: Any, fields: tuple[str, ...], index: int, kind: str) -> Manifest:
    """The text fields of a value; absent ones are empty, others are dropped."""
    where = f"parse property[{index}] of type {quoted(kind)}"
    if value is not None and not isinstance(value, Mapping):
        raise PropertyError(f"{where}: wanted an object, got {what_is(value)}")
    read = VALUES[kind].read(value)
    found = {name: read.get(name) for name in fields}
    for name, text in found.items():
        if text is not None and not isinstance(text, str):
            raise PropertyError(f"{where}: {name}: wanted text, got {what_is(text)}")
    return {name: text or "" for name, text in found.items()}


def _once(pairs: Iterable[_Pair]) -> list[_Pair]:
    """Each pair of type and value text once, the first of its kind."""
    found: dict[tuple[str, str], _Pair] = {}
    for pair in pairs:
        found.setdefault(_sort_key(pair), pair)
    return list(found.values())
