"""Reads what the status of ClusterExtensions is decided from: their revisions, the queue, the journal, catalogs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from eventing.diagnosis.status.extension import ExtensionRead, decide_extension
from eventing.diagnosis.status.package_status import PackageStatus
from eventing.diagnosis.status.reader import Sources, last_of
from shared.api.views import CatalogSource, ClusterExtension
from shared.domain.catalog.model import Package
from shared.domain.extension.decision import decide, request_for
from shared.domain.extension.report import PROGRESSING
from shared.domain.extension.revisions import Revisions
from shared.domain.resolution_inputs.namespace import catalog_of
from shared.kinds import CATALOG_SOURCE, CLUSTER_CATALOG, CLUSTER_EXTENSION, CLUSTER_OBJECT_SET, Ref
from shared.reading.extension import read_inputs

if TYPE_CHECKING:
    from shared.domain.resolver.model import Catalog
    from shared.reading.extension import Sources as Content


def extension_statuses(sources: Sources, namespace: str = "", *, lists_catalogs: bool = False) -> list[PackageStatus]:
    """The status of each ClusterExtension, or of those that install into a namespace.

    `lists_catalogs`: what is refused says, too, whether there are catalogs at all; not everybody may list them.
    """
    found = ClusterExtension.each(sources.list(CLUSTER_EXTENSION))
    mine = [read(sources, one) for one in found if namespace in ("", one.install_namespace)]
    refused = any(one.extension.condition(PROGRESSING).reason == "Retrying" for one in mine)
    lacks = lists_catalogs and refused and not sources.list(CLUSTER_CATALOG)
    return [decide_extension(replace(one, lacks_catalogs=lacks)) for one in mine]


def read(sources: Sources, extension: ClusterExtension, content: Content | None = None) -> ExtensionRead:
    """What there is about one extension; with `content` also what catalogs would give it now."""
    inputs = read_inputs(extension, content) if content and not extension.is_deleted else None
    revisions = inputs.revisions if inputs else Revisions.of(sources.list(CLUSTER_OBJECT_SET), extension)
    lacks = inputs is not None and not inputs.catalogs
    refs = [*(CLUSTER_OBJECT_SET.ref(one.name) for one in reversed(revisions.active)), _ref(extension)]
    jobs = sources.jobs_about(refs)
    return ExtensionRead(
        extension,
        revisions,
        decide(extension, revisions, inputs.catalogs) if inputs else None,
        inputs.catalogs if inputs else (),
        lacks_catalogs=lacks,
        images=images_in(content, request_for(extension).package) if content and lacks else (),
        job=next((job for job in jobs if job.error), None),
        due=min((job.due.isoformat(timespec="seconds") for job in jobs if job.due), default=""),
        last=tuple(run for ref in refs for run in last_of(sources.index, ref, sources.jobs)) if sources.index else (),
    )


def images_in(content: Content, package: str) -> tuple[CatalogSource, ...]:
    """The CatalogSources whose image may become that of a ClusterCatalog, first those that offer the package.

    Only global ones: a ClusterCatalog serves the whole cluster, and its image must not be the choice of a tenant.
    """
    found = CatalogSource.each(content.cluster.list(CATALOG_SOURCE, content.policy.global_namespace))
    having = {one.name for one in found if _offers(catalog_of(one), package, content)}
    return tuple(sorted((one for one in found if one.image), key=lambda one: one.name not in having))


def _offers(catalog: Catalog, package: str, content: Content) -> bool:
    """Whether what was last read of a catalog has the package."""
    reference = catalog.reference
    return bool(reference) and isinstance(content.catalogs.package(reference, package, catalog.source), Package)


def _ref(extension: ClusterExtension) -> Ref:
    return CLUSTER_EXTENSION.ref(extension.name)
