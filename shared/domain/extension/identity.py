"""Version and release of bundles, from catalogs and from what is installed (v1.md §14)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from shared.domain.extension.model import Identity, Installed
from shared.domain.gotext import quoted
from shared.domain.semver.release import InvalidRelease, parse_release
from shared.domain.semver.version import InvalidVersion, parse


class NoIdentity(ValueError):
    """A bundle does not say which version it is."""


def of_bundle(name: str, properties: Iterable[Mapping[str, Any]], *, has_releases: bool) -> Identity:
    """What the first `olm.package` property says; `has_releases` is the gate BundleReleaseSupport. NoIdentity."""
    value = next((one.get("value") for one in properties if one.get("type") == "olm.package"), None)
    if value is None:
        raise NoIdentity(f"no package property found in bundle {quoted(name)}")
    if not isinstance(value, Mapping) or not isinstance(value.get("version") or "", str):
        raise NoIdentity(f"error unmarshalling package property: {value!r} is no package")
    release = value.get("release") if has_releases else None
    return _read(str(value.get("version") or ""), None if release is None else str(release))


def of_installed(installed: Installed) -> Identity:
    """What was recorded; without a release it was recorded the old way. NoIdentity."""
    return _read(installed.version, installed.release)


def _read(version: str, release: str | None) -> Identity:
    try:
        parsed = parse(version)
        if release is not None:
            return Identity(parsed, parse_release(release))
    except (InvalidVersion, InvalidRelease) as error:
        raise NoIdentity(str(error)) from error
    try:
        return (
            Identity(parse(version.partition("+")[0]), parse_release(parsed.build))
            if parsed.build
            else Identity(parsed)
        )
    except InvalidRelease:
        return Identity(parsed)
