"""Versions and version ranges as operators and catalogs write them (fbc.md §5)."""

from shared.domain.semver.blang import InvalidRange, Range, in_range, parse_range
from shared.domain.semver.version import InvalidVersion, Version, parse

__all__ = ["InvalidRange", "InvalidVersion", "Range", "Version", "in_range", "parse", "parse_range"]
