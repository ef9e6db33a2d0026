"""Proposes changes for unmet requirements: install a provider, add a catalog, loosen a pin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from shared.domain.catalog.model import Bundle, Channel, Entry, Package, Property
from shared.domain.resolver.candidate_cache import CandidateCache
from shared.domain.resolver.catalog_readers import LoadedCatalog, MemoizedCatalog
from shared.domain.resolver.constraints import Dependency
from shared.domain.resolver.explain.facts import Translator, listed
from shared.domain.resolver.explain.findings import Fix
from shared.domain.resolver.explain.proposals import Proposal, subscribed
from shared.domain.resolver.facts import gvk, texts
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import Catalog, Inputs, Subscriber
from shared.domain.resolver.operators import Operator, installed_as
from shared.domain.resolver.predicates import PINNED, Predicate, requirements
from shared.domain.semver import parse_range, parse_version

_IMAGINED = CatalogKey("", "imagined")
_TRIED = 3
_NUMBER = re.compile(r"(\d+)\.(\d+)\.(\d+)")

Need = tuple[Operator, Predicate, Property]
"""An operator, its requirement, and the property that states it."""


def needs_in(dependencies: Iterable[Dependency], translator: Translator) -> Iterator[Need]:
    """The requirements of operators among the dependencies, in their order; those of Subscriptions are left out."""
    for one in dependencies:
        if (desired := one.requirement) is not None:
            operator = translator.operators[one.subject]
            by_predicate = {each.identity: needed for needed, each in _requirements(operator)}
            yield operator, desired, by_predicate[desired.identity]


def _requirements(operator: Operator) -> Iterator[tuple[Property, Predicate]]:
    """The properties that state a requirement, each with what it requires."""
    return ((needed, each) for needed in operator.facts.properties for each in requirements([needed]))


def installed_first(needs: Sequence[Need], cache: CandidateCache, inputs: Inputs) -> Iterator[Proposal]:
    """Install a provider by name: one that no channel leads to any more still counts once it is installed."""
    taken = {one.package for one in inputs.subscribers}
    for _, predicate, _ in needs:
        found = [one for one in cache.find(predicate) if one.bundle and one.package not in taken]
        for one in found[:_TRIED]:
            desired = Subscriber(one.package, one.package, one.channel, one.catalog, installed_csv=one.name)
            do, changed = subscribed(desired, installed_as(one, desired.name), inputs)
            yield Fix("InstallDependency", f"install {one.name} first", do), changed


def added_catalogs(needs: Sequence[Need], cache: CandidateCache, inputs: Inputs) -> Iterator[Proposal]:
    """Add a catalog with everything that a version lacks; tried with an imagined catalog that has nothing else."""
    for operator in dict.fromkeys(one for one, _, _ in needs):
        asked = {predicate.identity for one, predicate, _ in needs if one is operator}
        lacking = {
            predicate.plain: offered
            for needed, predicate in _requirements(operator)
            if (offered := _answering(needed)) is not None
            and (predicate.identity in asked or not cache.find(predicate))
        }
        if lacking:
            what = f"add a catalog with {listed(list(lacking))}, which {operator.name} needs"
            fix = Fix("AddCatalog", what, f"create a CatalogSource in namespace {inputs.namespace}")
            packages = [_imagined(one, f"{_IMAGINED.name}-{index}") for index, one in enumerate(lacking.values())]
            catalogs = {**inputs.catalogs, _IMAGINED: Catalog(_IMAGINED, reference="imagined")}
            readers = {**inputs.readers, _IMAGINED: LoadedCatalog({one.name: one for one in packages})}
            yield fix, replace(inputs, catalogs=catalogs, readers=readers)


def _imagined(offered: Property, name: str) -> Package:
    """A package with one bundle, which states that property; an API can be in a package of any name."""
    name = str(offered.value.get("packageName") or name)
    bundle = Bundle(f"{name}.imagined", "", "", (offered,))
    return Package(name, "any", (Channel("any", (Entry(bundle.name),)),), {bundle.name: bundle})


def loosened_pins(needs: Sequence[Need], inputs: Inputs) -> Iterator[Proposal]:
    """Change the bundle in its catalog, so that it accepts any version of a required package."""
    for operator, predicate, needed in needs:
        reader = inputs.readers.get(operator.catalog)
        package = reader.package(operator.package) if reader else None
        if reader and package and needed.type == "olm.package.required" and operator.bundle:
            bundle = operator.bundle
            name, _ = texts(needed.value, PINNED)
            loose = Property(needed.type, {"packageName": name, "versionRange": ">=0.0.0-0"})
            properties = tuple(loose if one == needed else one for one in bundle.properties)
            changed = replace(package, bundles={**package.bundles, bundle.name: replace(bundle, properties=properties)})
            what = f"loosen the pin of {operator.name} on {predicate.plain}"
            fix = Fix("LoosenPin", what, f"edit olm.package.required of {operator.name} in catalog {operator.catalog}")
            readers = {**inputs.readers, operator.catalog: MemoizedCatalog(reader, changed)}
            yield fix, replace(inputs, readers=readers)


def _answering(requirement: Property) -> Property | None:
    """The property with which a bundle meets a requirement; None when one property does not suffice."""
    if requirement.type == "olm.gvk.required":
        return Property("olm.gvk", gvk(requirement.value)._asdict())
    if requirement.type != "olm.package.required":
        return None
    name, versions = texts(requirement.value, PINNED)
    return Property("olm.package", {"packageName": name, "version": _version_in(versions)})


def _version_in(text: str) -> str:
    """A version in the range: 0.0.0, one of its bounds, or the patch version after a bound; else the empty string."""
    versions = parse_range(text)
    bounds = [tuple(map(int, found)) for found in _NUMBER.findall(text)]
    tried = ("0.0.0", *(f"{major}.{minor}.{patch + more}" for major, minor, patch in bounds for more in (0, 1)))
    return next((one for one in tried if parse_version(one) in versions), "")
