"""Report at once, in the status of a CatalogSource, what follows from its spec: it will be read, or why it cannot be.

Reads:  the CatalogSource; its Service; the version of the API server when a template contains it.
Writes: its status (`CONNECTING` before the first read, `registryService`, `reason`, `message`, the conditions of a
        template); its Service, or an Event when its status changes and it can have none; `spec.image` computed from
        the template.
Emits:  `io.olmf.catalog.snapshotted` when its users must be reconciled again.
"""

from __future__ import annotations

from functions.catalog_source._service import exposed
from shared import names
from shared.api.views import CatalogSource
from shared.domain import catalog_source, image_template
from shared.domain.catalog_source import RECHECK, Refused
from shared.ports import Attempt, Clock, Cluster, Discovery, Policy
from shared.step import NOTHING, Emit, Merge, Outcome, Record, Ref, SetStatus, Write


def check_catalog(
    ref: Ref, cluster: Cluster, discovery: Discovery, clock: Clock, *, policy: Policy, attempt: Attempt
) -> Outcome:
    """Update the status of a CatalogSource from its spec."""
    source = CatalogSource.of(cluster.get(ref))
    if source is None or source.is_deleted:
        return NOTHING
    before, now, version = source.status, clock.now(), source.resource_version
    template = source.image_template
    image = image_template.filled(template, discovery.version()) if template else None
    again_in = RECHECK if image else None  # no event tells of an upgrade of the API server, which a template may name
    after = image_template.with_conditions(before, image, now)
    if image is not None and image.is_usable and image.image != source.image:
        # The change of the spec runs this step again, which then says that the image is read.
        changed = (Merge(ref, {"spec": {"image": image.image}}, version), SetStatus(ref, after, version))
        return Outcome(changed, summary=f"the template says {image.image}")
    writes: tuple[Write, ...] = ()
    notes: tuple[Record, ...] = ()
    match catalog_source.catalog_request(source):
        case Refused() as refusal:
            after, summary = catalog_source.refused(after, refusal), refusal.message
            serves_anew = catalog_source.serves_anew(before, after)
        case request:
            found = exposed(source, request, cluster, policy, attempt=attempt)
            after = catalog_source.registered(after, request, found.service, now)
            first = catalog_source.connecting(after, request, now)
            summary = found.trouble or ("it is read for the first time" if first else "")
            after, writes, serves_anew = first or after, found.writes, False
            notes = (Record(ref, "Warning", "NoService", found.trouble),) if found.trouble else ()
            again_in = again_in or found.again_in
    if after != before:
        writes = (*writes, SetStatus(ref, after, version), *notes)
    emits = (Emit(names.CATALOG_SNAPSHOTTED, ref),) if serves_anew else ()
    return Outcome(writes, emits=emits, again_in=again_in, summary=summary)
