"""What becomes of the Service of a CatalogSource."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import CatalogSource, Object
from shared.domain import catalog_service
from shared.domain.catalog_source import RECHECK, SERVED, CatalogRequest
from shared.domain.server_address import ServerAddress
from shared.kinds import SERVICE
from shared.ports import Attempt, Cluster, Policy
from shared.step import Create, Delete, Replace, Write


@dataclass(frozen=True, slots=True)
class Exposed:
    """What there is to write, and what the status says of the Service."""

    writes: tuple[Write, ...] = ()
    service: ReadOnly = field(default_factory=dict)
    trouble: str = ""
    """Why the catalog has none."""
    again_in: timedelta | None = None
    """When that may be over: nobody tells of it."""


def exposed(
    source: CatalogSource, request: CatalogRequest, cluster: Cluster, policy: Policy, *, attempt: Attempt
) -> Exposed:
    """Its Service leads to the program that answers for all catalogs; a server by address needs none."""
    if not policy.catalogs_address:
        return Exposed()
    name = catalog_service.service_name(source)
    if not name:
        return Exposed(trouble="no Service can have its name")
    present = Object.of(cluster.get(ref := SERVICE.ref(name, source.namespace)))
    is_own = present is not None and catalog_service.is_its_own(source, present)
    if request.image.startswith(SERVED):
        return Exposed((Delete(ref, present.uid),) if present is not None and is_own else ())
    if present is not None and not is_own:
        return Exposed(trouble=f"the Service {name} is not its own: rename one of the two", again_in=RECHECK)
    if attempt.failure and attempt.failure.ref == ref:
        return Exposed(trouble=f"its Service cannot be written: {attempt.failure.message}", again_in=RECHECK)
    desired = catalog_service.service_of(source, ServerAddress.parse(policy.catalogs_address))
    return Exposed(_writes(present, desired), catalog_service.registry_of(desired))


def _writes(present: Object | None, desired: Manifest) -> tuple[Create | Replace, ...]:
    if present is None:
        return (Create(desired, must_be_new=True),)
    if not catalog_service.differs(present, desired):
        return ()
    metadata = {**desired["metadata"], "resourceVersion": present.resource_version}
    return (Replace({**desired, "metadata": metadata}),)
