"""Versions and version ranges as operators and catalogs write them (fbc.md §5, v1.md §15)."""

from shared.domain.semver.blang import InvalidRange, Range, in_range, parse_range, why_no_range
from shared.domain.semver.masterminds import Constraint, parse_constraint, parse_loose
from shared.domain.semver.version import InvalidVersion, Version, parse, parse_tolerant

__all__ = [
    "Constraint",
    "InvalidRange",
    "InvalidVersion",
    "Range",
    "Version",
    "in_range",
    "parse",
    "parse_constraint",
    "parse_loose",
    "parse_range",
    "parse_tolerant",
    "why_no_range",
]
