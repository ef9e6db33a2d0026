"""Whether a version lies in a range, for texts out of catalogs."""

from __future__ import annotations

from shared.domain.semver import InvalidVersion, parse, parse_range


def is_in_range(version: str, versions: str) -> bool:
    """The version lies in the range; a text that is no version lies in none. InvalidRange when the range is none."""
    wanted = parse_range(versions)
    try:
        return parse(version) in wanted
    except InvalidVersion:
        return False
