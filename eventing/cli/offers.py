"""The catalog that answers for a package (`versions`, `upgrades`, `graph`), and which others have it, too."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.failure import NEGATIVE, CliError
from eventing.cli.names import similar
from eventing.cli.namespace_inputs import catalog_readers
from eventing.cli.requests.sources import hidden_catalogs, visible_sources
from eventing.cli.target import choose
from eventing.diagnosis.catalogs import readers_of, unread_catalogs
from eventing.diagnosis.offers import subscription_of

if TYPE_CHECKING:
    from eventing.cli.namespace_inputs import Where
    from shared.adapters.kube import KubeClient
    from shared.domain.catalog.model import Package
    from shared.domain.resolver.identity import CatalogKey
    from shared.domain.resolver.model import CatalogReader

CatalogOption = Annotated[
    list[str] | None,
    typer.Option(
        "--catalog",
        metavar="[NAME=]PATH|IMAGE",
        help="Repeatable; without it the catalogs of the cluster that the namespace sees.",
    ),
]
SourceOption = Annotated[
    str,
    typer.Option(
        "--source",
        metavar="[NAMESPACE/]NAME",
        help="Which of several catalogs answers; empty: that of the Subscription, else that of the highest priority.",
    ),
]


@dataclass(frozen=True, slots=True)
class PackageRequest:
    """What a verb is asked about a package."""

    package: str
    catalogs: Sequence[str] | None
    """Files and images; none: the cluster."""
    source: str
    namespace: str
    cluster: Where


@dataclass(frozen=True, slots=True)
class Offer:
    """A package in the catalog that answers."""

    package: Package
    catalog: CatalogKey
    readers: Mapping[CatalogKey, CatalogReader]
    """All catalogs; what the package needs may be in another one."""


def offer_of(request: PackageRequest) -> Offer:
    """The package and its catalog; where several catalogs could have it, a message names the chosen one. CliError."""
    if request.catalogs:
        readers = catalog_readers(request.catalogs)
        return _chosen(request, readers, "", is_announced=len(readers) > 1)
    return _offer_of_cluster(request)


def _offer_of_cluster(request: PackageRequest) -> Offer:
    try:
        target = choose(*request.cluster)
    except CliError as error:
        raise CliError(f"{error}; or name the catalog: --catalog PATH|IMAGE", error.code) from error
    cluster, namespace = target.cluster(), request.namespace or target.namespace
    sources = visible_sources(cluster, namespace)
    found, first = readers_of(cluster, sources), _subscribed(cluster, namespace, request.package)
    readers = {key: found[key] for key in sorted(found, key=lambda one: str(one) != first)}
    try:
        return offer_among(request, readers, unread_catalogs(sources), f" that {namespace} sees")
    except CliError as error:
        if error.code != NEGATIVE:
            raise
        raise CliError(f"{error}{hidden_catalogs(cluster, namespace)}", NEGATIVE) from error


def offer_among(
    request: PackageRequest, readers: Mapping[CatalogKey, CatalogReader], unread: Mapping[CatalogKey, str], which: str
) -> Offer:
    """The package, in the first catalog that has it; `unread` are those that were never read, each with the reason.

    CliError: with UNKNOWN where one that was never read could be the one that has it.
    """
    missing = ", ".join(f"{key}{f' ({why})' if why else ''}" for key, why in unread.items() if _is_asked(request, key))
    if not missing:
        return _chosen(request, readers, which, is_announced=True, unread=unread)
    if request.source and not any(_is_asked(request, key) for key in readers):
        raise CliError(f"--source {request.source}: catalog {missing} was not read yet")
    try:
        return _chosen(request, readers, which, is_announced=True)
    except CliError as error:
        raise CliError(f"{error}; some were not read yet: {missing}") from error


def _is_asked(request: PackageRequest, key: CatalogKey) -> bool:
    """Whether the options allow this catalog."""
    return request.source in ("", str(key), key.name)


def _subscribed(cluster: KubeClient, namespace: str, package: str) -> str:
    """The catalog of the Subscription to the package in the namespace; empty without one."""
    spec = (subscription_of(cluster, namespace, package) or {}).get("spec") or {}
    return f"{spec.get('sourceNamespace')}/{spec.get('source')}" if spec else ""


def _chosen(
    request: PackageRequest, readers: Mapping[CatalogKey, CatalogReader], which: str, *,
    is_announced: bool, unread: Iterable[CatalogKey] = (),
) -> Offer:  # fmt: skip
    """The first catalog with the package, of all or of those that are asked for. CliError."""
    asked = [key for key in readers if _is_asked(request, key)]
    if not asked and request.source:
        there = ", ".join(map(str, (*readers, *unread))) or "none"
        raise CliError(f"--source {request.source}: no such catalog{which}; there are: {there}", NEGATIVE)
    found = [(key, package) for key in asked if (package := readers[key].package(request.package))]
    if not found:
        problems = "; ".join(filter(None, (readers[key].problem(request.package) for key in asked)))
        catalog = f"catalog {asked[0]} has no" if request.source else f"no catalog{which} has"
        hint = (
            f": {problems}"
            if problems
            else similar(request.package, (one for key in asked for one in readers[key].names()))
        )
        raise CliError(f"{catalog} package {request.package}{hint}", NEGATIVE)
    key, package = found[0]
    if is_announced:
        others = ", ".join(str(one) for one, _ in found[1:])
        too = f" (also in {others}; --source chooses)" if others else ""
        sys.stderr.write(f"# from catalog {key}{too}\n")
    return Offer(package, key, readers)
