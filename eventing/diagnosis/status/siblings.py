"""Versions of a package that another namespace installed for this one, too; pure."""

from __future__ import annotations

from collections.abc import Iterable

from shared import names
from shared.api import fields
from shared.api.views import Csv
from shared.domain.bundle.projection import projected
from shared.domain.catalog.model import PACKAGE


def siblings(package: str, csvs: Iterable[Csv], name: str = "") -> list[Csv]:
    """The copies of other versions of the package than that of this name; a copy of the same name keeps it out."""
    return [one for one in csvs if package and one.is_copy and one.name != name and package_of(one) == package]


def doubled(copy: Csv, by: str) -> str:
    """The sentence about a copy, and who would work beside it."""
    origin = f"namespace {copy.origin}" if copy.origin else "another namespace"
    return f"{copy.name}, which {origin} installed, works for this namespace already: {by} would do the same work, too"


def package_of(csv: Csv) -> str:
    """The package that the properties of a version, or of a copy, name; empty without any."""
    try:
        found = [one.value for one in projected(csv.annotations.get(names.PROPERTIES, "{}")) if one.type == PACKAGE]
    except ValueError:
        return ""  # the resolver says what is wrong with the annotation
    return next((fields.text(one, "packageName") for one in found if isinstance(one, dict)), "")
