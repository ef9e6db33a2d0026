"""Versions and version ranges as operators and catalogs write them (fbc.md §5, v1.md §15)."""

from shared.domain.semver.blang import InvalidRange, Range, parse_range, range_or_none, why_no_range
from shared.domain.semver.masterminds import Constraint, parse_constraint, parse_loose
from shared.domain.semver.version import InvalidVersion, Version, parse_tolerant, parse_version, version_or_none

__all__ = [
    "Constraint",
    "InvalidRange",
    "InvalidVersion",
    "Range",
    "Version",
    "parse_constraint",
    "parse_loose",
    "parse_range",
    "parse_tolerant",
    "parse_version",
    "range_or_none",
    "version_or_none",
    "why_no_range",
]
