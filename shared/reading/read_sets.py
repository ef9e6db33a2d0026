"""What decisions read of catalogs, and whether a catalog answers the same now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from shared.api.manifest import Manifest
from shared.api.views import Subscription
from shared.domain.resolver.facts import Gvk
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import Catalog
from shared.domain.resolver.read_set import CatalogReads, ReadSet, state_of
from shared.domain.subscription.track import has_conditions_of
from shared.policy import Policy
from shared.ports import Catalogs, ReadSets, Unavailable
from shared.reading.indexed_catalog import IndexedCatalog
from shared.step import Ref

MOST_REQUESTS: Final = 5000
"""Packages and APIs for which one look at a catalog asks; each is kept in the record of its run."""

MOST_PACKAGES: Final = 100
"""Packages of which one look reads all that a catalog has, because they changed."""


def read_set_of(
    catalogs: Iterable[Catalog], readers: Mapping[CatalogKey, IndexedCatalog], policy: Policy
) -> Manifest | None:
    """What was read of these catalogs; None when there are none, or when that cannot be compared."""
    found: dict[str, CatalogReads] = {}
    for catalog in catalogs:
        state, reader = state_of(catalog), readers.get(catalog.key)
        reads = CatalogReads(state) if reader is None else reader.reads(state)
        if reads is None:
            return None
        found[str(catalog.key)] = reads
    return ReadSet(_settings(policy), found).as_json() if found else None


def known_reads(
    refs: Sequence[Ref], catalog: Catalog, read_sets: ReadSets, policy: Policy
) -> Mapping[Ref, CatalogReads]:
    """What the last decisions about the refs read of the catalog, of each of which that is known."""
    known: dict[Ref, CatalogReads] = {}
    for ref, stored in zip(refs, read_sets.of(refs), strict=True):
        read_set = ReadSet.stored(stored)
        if read_set and read_set.settings == _settings(policy) and (reads := read_set.of(catalog.key)):
            known[ref] = reads
    return _askable(known)


def unaffected(known: Mapping[Ref, CatalogReads], catalog: Catalog, catalogs: Catalogs) -> set[Ref]:
    """Those whose last decisions read nothing of the catalog that is otherwise now."""
    present = _Present.of(catalog, catalogs, known.values())
    return {ref for ref, reads in known.items() if present.answers(reads)}


def unchanged(subscriptions: Iterable[Subscription], catalog: Catalog, catalogs: Catalogs) -> set[Ref]:
    """Those of the Subscriptions to a catalog whose status says of their packages already what follows from it now.

    A status that is written meanwhile is looked at again when its event comes.
    """
    reader = IndexedCatalog(catalogs, catalog.reference, catalog.source)
    found = set[Ref]()
    for one in subscriptions if catalog.reference else ():
        if one.package not in reader.asked and len(reader.asked) == MOST_PACKAGES:
            continue
        package = reader.package(one.package)
        if not reader.problem(one.package) and has_conditions_of(one, package):
            found.add(Ref.of(one))
    return found


def _askable(known: Mapping[Ref, CatalogReads]) -> dict[Ref, CatalogReads]:
    """Those that asked for least, up to a limit of all together: whoever asked for much costs the others nothing."""
    asked, found = set[str | Gvk](), dict[Ref, CatalogReads]()
    for ref, reads in sorted(known.items(), key=lambda one: len(one[1].requests)):
        new = reads.requests - asked
        if len(asked) + len(new) <= MOST_REQUESTS:
            asked |= new
            found[ref] = reads
    return found


def _settings(policy: Policy) -> str:
    """What of the settings decisions about catalogs depend on."""
    return f"{policy.plan_scope} {policy.catalog_policy} {policy.global_namespace}"


@dataclass(frozen=True, slots=True)
class _Present:
    """What a catalog answers now; each question of all read sets is asked once."""

    state: str
    packages: Mapping[str, str]
    providers: Mapping[Gvk, tuple[str, ...]]
    is_empty: bool | None
    """None: not known."""

    @classmethod
    def of(cls, catalog: Catalog, catalogs: Catalogs, asked: Iterable[CatalogReads]) -> _Present:
        """The answers to what was asked; what cannot be read is not among them."""
        state, reference, source = state_of(catalog), catalog.reference, catalog.source
        reads = [one for one in asked if one.state == state] if reference else []
        names = sorted({name for one in reads for name in one.packages})
        apis = sorted({api for one in reads for api in one.providers})
        digests = catalogs.package_digests(reference, names, source) if names else ()
        packages = {} if isinstance(digests, Unavailable) else dict(zip(names, digests, strict=True))
        providers = {api: catalogs.providers(reference, api, source) for api in apis}
        listed = catalogs.packages(reference, source) if any(one.is_empty is not None for one in reads) else ()
        is_empty = None if isinstance(listed, Unavailable) else not any(listed)
        return cls(state, packages, {api: one for api, one in providers.items() if isinstance(one, tuple)}, is_empty)

    def answers(self, reads: CatalogReads) -> bool:
        """Whether everything that was read is as it was."""
        return (
            reads.state == self.state
            and all(self.packages.get(name) == digest for name, digest in reads.packages.items())
            and all(self.providers.get(api) == found for api, found in reads.providers.items())
            and reads.is_empty in (None, self.is_empty)
        )
