"""Version and release of bundles, from catalogs and from what is installed (v1.md §14)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from shared.domain.catalog.schemas import PACKAGE_PROPERTY
from shared.domain.catalog.shapes import why_not
from shared.domain.extension.model import Identity, Installed
from shared.domain.go.text import quoted
from shared.domain.semver.release import InvalidRelease, parse_release, with_build_as_release
from shared.domain.semver.version import InvalidVersion, parse_version


class NoIdentity(ValueError):
    """A bundle does not say which version it is."""


def of_bundle(name: str, properties: Iterable[Mapping[str, Any]], *, has_releases: bool) -> Identity:
    """What the first `olm.package` property says; `has_releases` is the gate BundleReleaseSupport. NoIdentity."""
    found = next((one for one in properties if one.get("type") == "olm.package"), None)
    if found is None:
        raise NoIdentity(f"no package property found in bundle {quoted(name)}")
    if why := why_not(PACKAGE_PROPERTY, found.get("value")):
        raise NoIdentity(f"error unmarshalling package property: {why}")
    package = PACKAGE_PROPERTY.read(found.get("value"))
    version, release = package.get("version") or "", package.get("release")
    return _explicit(version, release) if has_releases and release is not None else _legacy(version)


def of_installed(installed: Installed) -> Identity:
    """What was recorded; without a release it was recorded the old way. NoIdentity."""
    try:
        if installed.release is None:
            return _legacy(installed.version)
    except NoIdentity as error:
        raise NoIdentity(f"failed to get version and release of installed bundle: {error}") from error
    try:
        return _explicit(installed.version, installed.release)
    except NoIdentity as error:
        raise NoIdentity(f"failed to parse installed bundle version and release: {error}") from error


def _explicit(version: str, release: str) -> Identity:
    try:
        parsed = parse_version(version)
    except InvalidVersion as error:
        raise NoIdentity(f"error parsing version {quoted(version)}: {error}") from error
    try:
        return Identity(parsed, parse_release(release))
    except InvalidRelease as error:
        raise NoIdentity(f"error parsing release {quoted(release)}: {error}") from error


def _legacy(version: str) -> Identity:
    """The build metadata is the release, if it can be one."""
    try:
        parsed = parse_version(version)
        found = with_build_as_release(parsed)
    except InvalidVersion as error:
        raise NoIdentity(str(error)) from error
    except InvalidRelease:
        return Identity(parsed)
    return Identity(found.version, found.release if found.release.text else None)
