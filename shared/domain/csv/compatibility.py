"""Which operators keep an OpenShift from its next minor version (csv.md §15.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from shared import names
from shared.api.views import Csv
from shared.domain.bundle.projection import as_written
from shared.domain.openshift import MAXIMUM, Release, effective, following
from shared.domain.semver import InvalidVersion, parse_tolerant, parse_version

MOST_NAMED: Final = 100
"""Operators that a message names at most: anybody may write a version."""
_LONGEST: Final = 300
_BEFORE_FIVE: Final = (4, 22)
"""From here the way leads to 4.23, or to 5.0, which is the same."""


def release_of(version: str) -> Release:
    """Major and minor of the version of a cluster; what follows does not count. InvalidVersion."""
    found = parse_tolerant(version)
    return found.major, found.minor


def blockers(csvs: Iterable[Csv], current: Release) -> str:
    """The versions that are not for the next release, those that cannot be read first; empty without any."""
    unreadable, limited = [], []
    for csv in sorted(csvs, key=lambda one: (one.namespace, one.name)):
        name = f"{csv.namespace}/{csv.name}"
        try:
            limit = limit_of(csv)
        except ValueError as error:
            unreadable.append(f"- {name} has invalid {MAXIMUM} properties: {error}"[:_LONGEST])
            continue
        if limit is not None and effective(limit) <= effective(current):
            limited.append(f"- maximum supported OCP version for {name} is {limit[0]}.{limit[1]}")
    return _sentence([*unreadable, *limited], current)


def limit_of(csv: Csv) -> Release | None:
    """The last release that a version is for; None when it names none. ValueError, which says why, for another text."""
    annotation = csv.annotation(names.PROPERTIES)
    if annotation is None:
        return None
    try:
        limit = as_written(annotation, MAXIMUM)
    except ValueError as error:
        raise ValueError(f"failed to unmarshal properties annotation: {error}") from error
    if len(limit) > 1:
        raise ValueError(f'defining more than one "{MAXIMUM}" property is not allowed')
    return _limit(limit[0]) if limit else None


def _limit(text: str) -> Release:
    if not text:
        raise ValueError('value cannot be "" (an empty string)')
    try:
        version = parse_tolerant(text)
    except InvalidVersion as error:
        raise ValueError(f'failed to parse "{text}" as semver: {error}') from error
    if version != parse_version(f"{version.major}.{version.minor}.0"):
        what = "must specify only <major>.<minor> version, got invalid value"
        raise ValueError(f"property {MAXIMUM} {what} {version}")
    return version.major, version.minor


def _sentence(found: Sequence[str], current: Release) -> str:
    if not found:
        return ""
    either = " or major version upgrades to 5.0" if current == _BEFORE_FIVE else ""
    more = [f"- and {len(found) - MOST_NAMED} more"] if len(found) > MOST_NAMED else []
    what = f"ClusterServiceVersions blocking minor version upgrades to {following(current)}{either}:"
    return "\n".join([what, *found[:MOST_NAMED], *more])
