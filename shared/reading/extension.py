"""What decides about a ClusterExtension: its revisions, and what the catalogs that it selects offer of its package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from shared import kinds, names
from shared.api.manifest import ReadOnly, name_of
from shared.api.views import ClusterCatalog, ClusterExtension
from shared.domain.bundle.model import Files
from shared.domain.bundle.payload import files_in
from shared.domain.catalog.model import Package
from shared.domain.extension.decision import HAS_RELEASES, may_select, request_for
from shared.domain.extension.making import Refusal
from shared.domain.extension.model import CatalogView, Offer
from shared.domain.extension.offer import deprecations_of, offer_of, offer_of_package
from shared.domain.extension.render.model import CertProvider
from shared.domain.extension.revisions import Revisions
from shared.domain.go.text import quoted
from shared.domain.image_source import ImageSource
from shared.domain.shape import InvalidRequest
from shared.ports import Attempt, Bundles, Cluster, Discovery, Policy, Unavailable, WrittenCatalogs
from shared.reading.objects import read_all

_ISSUERS: tuple[tuple[str, str, CertProvider], ...] = (
    ("cert-manager.io/v1", "Certificate", "cert-manager"),
    ("operator.openshift.io/v1", "ServiceCA", "openshift-service-ca"),
)
"""Kinds of a cluster whose certificates somebody makes, the preferred one first."""

_PULL_AGAIN = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class ExtensionInputs:
    """What there is to decide about an extension."""

    revisions: Revisions
    catalogs: tuple[CatalogView, ...] = ()
    is_incomplete: bool = False
    """Whether the content of a catalog could not be read that may be read later."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Where it is read."""

    cluster: Cluster
    catalogs: WrittenCatalogs
    policy: Policy


def revisions_of(extension: ClusterExtension, cluster: Cluster) -> Revisions:
    """The revisions of an extension."""
    labels = {names.V1_OWNER_NAME: extension.name}
    return Revisions.of(cluster.list(kinds.CLUSTER_OBJECT_SET, labels=labels), extension)


def read_inputs(extension: ClusterExtension, sources: Sources) -> ExtensionInputs:
    """The revisions, and the catalogs."""
    found = ClusterCatalog.each(sources.cluster.list(kinds.CLUSTER_CATALOG))
    views, is_incomplete = [], False
    for catalog in found:
        view, is_lost = _view(catalog, extension, sources)
        views.append(view)
        is_incomplete |= is_lost
    return ExtensionInputs(revisions_of(extension, sources.cluster), tuple(views), is_incomplete)


def cert_provider(discovery: Discovery) -> CertProvider:
    """Who makes certificates in this cluster."""
    served = (provider for version, kind, provider in _ISSUERS if discovery.find(version, kind))
    return next(served, "none")


def _view(catalog: ClusterCatalog, extension: ClusterExtension, sources: Sources) -> tuple[CatalogView, bool]:
    """The catalog as the resolution sees it, and whether its content should be there and is not."""
    offer, problem, is_lost = Offer(is_empty=True), "", False
    if not catalog.is_disabled and may_select(extension, catalog):
        problem = _unready(catalog)
        if not problem:
            offer, problem = _offer(catalog, request_for(extension).package, sources)
            is_lost = bool(problem)
    view = CatalogView(
        catalog.name, catalog.priority, catalog.labels, not catalog.is_disabled, offer, problem
    )  # fmt: skip
    return view, is_lost


def _unready(catalog: ClusterCatalog) -> str:
    """Why a catalog cannot be asked (v1.md §9)."""
    if not catalog.condition("Serving").is_true:
        return f"catalog {quoted(catalog.name)} is not being served"
    return "" if catalog.resolved else f"error: catalog {quoted(catalog.name)} has a nil status.resolvedSource value"


def _offer(catalog: ClusterCatalog, package: str, sources: Sources) -> tuple[Offer, str]:
    source = ImageSource(catalog.image, sources.policy.global_namespace, sources.policy.pull_secrets)
    match sources.catalogs.package(catalog.resolved, package, source):
        case Package() as found:
            return offer_of_package(found, deprecations_of(found), has_releases=HAS_RELEASES), ""
        case Unavailable(reason="Malformed"):
            return _offer_as_written(catalog, package, source, sources)
        case Unavailable(message=message):
            return Offer(), message
    return Offer(is_empty=True), ""


def _offer_as_written(
    catalog: ClusterCatalog, package: str, source: ImageSource, sources: Sources
) -> tuple[Offer, str]:
    """What documents say that make no package: OLM v1 minds other defects than OLM does (v1.md §9)."""
    found = sources.catalogs.documents(catalog.resolved, package, source)
    if isinstance(found, Unavailable):
        return Offer(), found.message
    try:
        return offer_of(found, package, has_releases=HAS_RELEASES), ""
    except InvalidRequest as error:
        return Offer(), f"error loading package {quoted(package)}: {error}"


def fetched(image: str, bundles: Bundles, policy: Policy, attempt: Attempt) -> Files | Refusal:
    """The files of a bundle image, or why they cannot be had."""
    found = attempt.ended_pull or bundles.files(ImageSource(image, policy.global_namespace, policy.pull_secrets))
    if isinstance(found, Unavailable):
        return Refusal(found.message, after=max(_PULL_AGAIN, found.after))
    return files_in(found)


def definitions_like(desired: Sequence[ReadOnly], cluster: Cluster) -> Mapping[str, ReadOnly]:
    """The CustomResourceDefinitions of these names that are there, by name."""
    refs = (kinds.CUSTOM_RESOURCE_DEFINITION.ref_or_none(name_of(one)) for one in desired)
    found = read_all(cluster, filter(None, refs))
    return {ref.name: one for ref, one in found.items() if one is not None}
