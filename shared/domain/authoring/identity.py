"""The version, release and ClusterServiceVersion in the properties of a bundle (fbc.md §4.2, §5.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from shared import names
from shared.domain.bundle.model import CSV
from shared.domain.bundle.shape import as_list, as_object, as_text
from shared.domain.catalog import schemas, shapes
from shared.domain.catalog.config import Blob
from shared.domain.catalog.model import BUNDLE_OBJECT, CSV_METADATA, PACKAGE
from shared.domain.go import yaml as goyaml
from shared.domain.go.text import quoted
from shared.domain.semver import InvalidVersion, Version, parse_version
from shared.domain.semver.release import InvalidRelease, VersionRelease, parse_release, with_build_as_release


class InvalidBundle(ValueError):
    """The properties of a bundle cannot be read, or do not state its package and version."""


def name_of(bundle: Blob) -> str:
    """The name of a bundle, which may be empty."""
    return str(bundle.get("name", ""))


def _values(bundle: Blob, kind: str) -> list[Mapping[str, Any]]:  # why: any JSON values
    """The values of its properties of a known type. InvalidBundle when any property of the bundle cannot be read."""
    found = []
    for index, one in enumerate(bundle.get("properties", ())):
        shape = schemas.VALUES.get(one["type"], shapes.RAW)
        if why := shapes.why_not(shape, one["value"]):
            where = f"parse property[{index}] of type {quoted(one['type'])}"
            raise InvalidBundle(f"parse properties for bundle {quoted(name_of(bundle))}: {where}: {why}")
        if one["type"] == kind:
            found.append(schemas.VALUES[kind].read(one["value"]))
    return found


def identity(bundle: Blob) -> tuple[str, Version]:
    """The package and the version of a bundle. InvalidBundle when it does not state them once, and well."""
    found, name = _values(bundle, PACKAGE), quoted(name_of(bundle))
    if len(found) != 1:
        raise InvalidBundle(f'bundle {name} has multiple "{PACKAGE}" properties, expected exactly 1')
    version = found[0].get("version") or ""
    try:
        return found[0].get("packageName") or "", parse_version(version)
    except InvalidVersion as error:
        raise InvalidBundle(f"bundle {name} has invalid version {quoted(version)}: {error}") from error


def version_release(bundle: Blob) -> VersionRelease:
    """The version and release by which a bundle is ordered. InvalidBundle when it does not state them once, and well.

    The build metadata of a bundle that substitutes another is its release, unless it states one.
    """
    name, found = quoted(name_of(bundle)), None
    for one in bundle.get("properties", ()):
        if one["type"] == PACKAGE:
            if found is not None:
                raise InvalidBundle(f'must be exactly one property of type "{PACKAGE}"')
            found = _package_version(one["value"], name)
    if found is None:
        raise InvalidBundle(f'no "{PACKAGE}" property found for bundle {name}')
    if found.release.text or not found.version.build or not _is_substitute(bundle):
        return found
    try:
        return with_build_as_release(found.version)
    except InvalidRelease as error:
        raise InvalidBundle(f"unable to convert build metadata to release for bundle {name}: {error}") from error


def _package_version(value: Any, name: str) -> VersionRelease:
    if why := shapes.why_not(schemas.PACKAGE_PROPERTY, value):
        raise InvalidBundle(f'unable to unmarshal "{PACKAGE}" property for bundle {name}: {why}')
    fields = schemas.PACKAGE_PROPERTY.read(value)
    version, release = fields.get("version") or "", fields.get("release") or ""
    where = f'in "{PACKAGE}" property for bundle {name}'
    try:
        return VersionRelease(parse_version(version), parse_release(release))
    except InvalidVersion as error:
        raise InvalidBundle(f"invalid semver version {quoted(version)} {where}: {error}") from error
    except InvalidRelease as error:
        raise InvalidBundle(f"invalid release {quoted(release)} {where}: {error}") from error


def csv_of(bundle: Blob) -> Mapping[str, Any] | None:  # why: any JSON values
    """The first ClusterServiceVersion that a bundle embeds; None without one."""
    return next((one for one in _objects(bundle) if one.get("kind") == CSV), None)


def display_name(bundle: Blob) -> str:
    """The display name in the CSV of a bundle, or in its `olm.csv.metadata`; empty without one."""
    return as_text(_described(bundle).get("displayName"))


def install_modes(bundle: Blob) -> tuple[Mapping[str, Any], ...]:
    """The install modes in the CSV of a bundle, or in its `olm.csv.metadata`; empty where neither states them."""
    return tuple(map(as_object, as_list(_described(bundle).get("installModes"))))


def _described(bundle: Blob) -> Mapping[str, Any]:
    """The `spec` of the CSV of a bundle, or its `olm.csv.metadata`."""
    csv = csv_of(bundle)
    described = (one["value"] for one in bundle.get("properties", ()) if one["type"] == CSV_METADATA)
    return as_object(csv.get("spec") if csv is not None else next(described, None))


def _objects(bundle: Blob) -> Iterator[Mapping[str, Any]]:
    for one in bundle.get("properties", ()):
        if one["type"] == BUNDLE_OBJECT and not shapes.why_not(schemas.BUNDLE_OBJECT, one["value"]):
            try:
                value = goyaml.load_value(schemas.embedded(one["value"]))
            except goyaml.YamlError:
                continue  # nobody can tell what it is, so it is not the one that is looked for
            if isinstance(value, dict):
                yield value


def _is_substitute(bundle: Blob) -> bool:
    """Whether its CSV names a bundle that it substitutes."""
    csv = csv_of(bundle)
    if csv is not None:
        return _substitutes(csv.get("metadata"))
    described = (one["value"] for one in bundle.get("properties", ()) if one["type"] == CSV_METADATA)
    return any(map(_substitutes, described))


def _substitutes(holder: object) -> bool:
    return bool(as_object(as_object(holder).get("annotations")).get(names.SUBSTITUTES_FOR))
