"""Releases of OpenShift, by which bundles say up to where they may be used (csv.md §15.1, v1.md §23)."""

from __future__ import annotations

from typing import Final, TypeAlias

MAXIMUM: Final = "olm.maxOpenShiftVersion"
"""The property that names the last version of OpenShift that a bundle is for."""

Release: TypeAlias = tuple[int, int]
"""Major and minor version."""
_LAST_FOUR: Final = (4, 23)
"""Released together with 5.0 as its equal; the way on from either is 5.1."""


def effective(release: Release) -> Release:
    """The release as the one that it is compared as."""
    return (5, 0) if release == _LAST_FOUR else release


def following(current: Release) -> str:
    """The minor version after this one."""
    major, minor = effective(current)
    return f"{major}.{minor + 1}"
