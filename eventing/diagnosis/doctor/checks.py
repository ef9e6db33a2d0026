"""The table of checks, and their run: one that fails stops none of the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

from eventing.diagnosis.doctor.bundle_kinds import check_bundle_kinds
from eventing.diagnosis.doctor.catalogs import check_catalogs, check_cluster_catalogs
from eventing.diagnosis.doctor.definitions import check_definitions, check_needed
from eventing.diagnosis.doctor.finding import Check, Finding, Unknown
from eventing.diagnosis.doctor.managers import check_managers, check_programs
from eventing.diagnosis.doctor.packages import check_doubled
from eventing.diagnosis.doctor.serving import check_api_services, check_conversions, check_webhooks
from eventing.diagnosis.doctor.stuck import check_finalizers, check_namespaces
from eventing.diagnosis.doctor.versions import check_builds
from shared.adapters.kube import ApiError
from shared.ports import Cluster

CHECKS: Final[Mapping[str, Check]] = {
    "the definitions of our kinds": check_definitions,
    "other managers of the same objects": check_managers,
    "our programs": check_programs,
    "builds of our programs": check_builds,
    "definitions that installed versions need": check_needed,
    "kinds that bundles may hold": check_bundle_kinds,
    "namespaces that do not end": check_namespaces,
    "objects that finalizers keep": check_finalizers,
    "aggregated APIs": check_api_services,
    "admission webhooks": check_webhooks,
    "conversion webhooks": check_conversions,
    "CatalogSources": check_catalogs,
    "ClusterCatalogs": check_cluster_catalogs,
    "versions beside another one": check_doubled,
}
"""What a check looks at, in the order of what hurts most."""


def examine(cluster: Cluster, now: datetime, checks: Mapping[str, Check] = CHECKS) -> Iterator[Finding | Unknown]:
    """The findings of all checks, and the checks that could not be made. ApiError when nothing answers."""
    for title, check in checks.items():
        try:
            yield from list(check(cluster, now))
        except ApiError as error:
            if error.is_unreachable:
                raise
            yield Unknown(title, str(error))
