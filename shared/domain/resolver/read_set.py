"""What a decision read of catalogs: while they would answer the same, it would be the same.

The resolver is a pure function, and asks a catalog only for packages by name, for the packages that provide an API,
and whether it has any package. So while each of these answers is as it was, each of its questions is, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shared.api.manifest import Manifest, ReadOnly
from shared.domain.resolver.facts import Gvk
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import Catalog


@dataclass(frozen=True, slots=True)
class CatalogReads:
    """What was read of one catalog."""

    state: str
    """What its CatalogSource says of it beside the content (`state_of`)."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """Package to the digest of what the catalog has of it; empty for one that it does not have."""
    providers: Mapping[Gvk, tuple[str, ...]] = field(default_factory=dict)
    """API to the packages that provide it."""
    is_empty: bool | None = None
    """Whether it has no package; None: that was not asked."""

    def as_json(self) -> Manifest:
        """As it is stored."""
        providers = [[*api, *names] for api, names in sorted(self.providers.items())]
        packages = dict(sorted(self.packages.items()))
        return {"state": self.state, "packages": packages, "providers": providers, "isEmpty": self.is_empty}

    @classmethod
    def stored(cls, found: ReadOnly) -> CatalogReads:
        """The inverse of `as_json`."""
        providers: Sequence[Sequence[str]] = found["providers"]
        by_api = {Gvk(*one[:3]): tuple(one[3:]) for one in providers}
        return cls(found["state"], found["packages"], by_api, found["isEmpty"])

    @property
    def requests(self) -> frozenset[str | Gvk]:
        """The packages and APIs that were asked for."""
        return frozenset((*self.packages, *self.providers))


@dataclass(frozen=True, slots=True)
class ReadSet:
    """What a decision read of each catalog that its namespace sees, under which settings of the administrator."""

    settings: str
    catalogs: Mapping[str, CatalogReads]
    """By the text of their keys; of one that is not here nothing is known."""

    def of(self, catalog: CatalogKey) -> CatalogReads | None:
        """What was read of one; None when it did not exist then, or was not visible."""
        return self.catalogs.get(str(catalog))

    def as_json(self) -> Manifest:
        """As it is stored."""
        return {
            "settings": self.settings,
            "catalogs": {key: one.as_json() for key, one in sorted(self.catalogs.items())},
        }

    @classmethod
    def stored(cls, found: ReadOnly) -> ReadSet | None:
        """The inverse of `as_json`; None where nothing is stored."""
        if not found:
            return None
        return cls(found["settings"], {key: CatalogReads.stored(one) for key, one in found["catalogs"].items()})


def state_of(catalog: Catalog) -> str:
    """What a CatalogSource says of a catalog beside its content and where that is.

    Whoever reads by a digest gets the same from everywhere, and a remark on what is in use decides nothing.
    """
    is_well = bool(catalog.reference) and not catalog.is_stale
    return f"{catalog.priority} {bool(catalog.reference)} {catalog.is_stale} {'' if is_well else catalog.problem}"
