"""Read the image of a CatalogSource by digest, and record the digest.

Reads:  the CatalogSource; its image.
Writes: its status (`connectionState`, `reason`, `message`).
Emits:  `io.olmf.catalog.snapshotted` when its users must be reconciled again.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from shared import names
from shared.api.manifest import Manifest
from shared.api.views import CatalogSource
from shared.domain import catalog_source
from shared.domain.catalog.image_reference import without_login
from shared.domain.catalog_source import IN_CONFIG_MAP, Refused
from shared.domain.image_source import ImageSource
from shared.errors import RetryLater
from shared.ports import Attempt, Catalogs, Clock, Cluster, Unavailable
from shared.step import NOTHING, Emit, Outcome, Ref, SetStatus, Wait

_RETRY = timedelta(seconds=15)
_FIRST_LOOK = timedelta(seconds=2)


def snapshot_catalog(ref: Ref, cluster: Cluster, catalogs: Catalogs, clock: Clock, *, attempt: Attempt) -> Outcome:
    """Update the status of a CatalogSource from its image."""
    source = CatalogSource.of(cluster.get(ref))
    if source is None:
        return NOTHING
    request = catalog_source.catalog_request(source)
    if isinstance(request, Refused) or request.image.startswith(IN_CONFIG_MAP):
        return NOTHING  # `check_catalog` says why; `snapshot_config_map` reads that
    if not (attempt.ended or source.connection.raw):
        # `check_catalog` says first that it is read. Its change of the status runs this again, if anybody tells of it.
        return Outcome(again_in=_FIRST_LOOK)
    result = attempt.ended_pull or catalogs.pull(ImageSource(request.image, ref.namespace, request.secrets))
    source = CatalogSource.of(cluster.get(ref))  # a long pull has said in the status how far it is
    if source is None or catalog_source.catalog_request(source) != request:
        return Outcome(summary="another catalog is wanted meanwhile")  # an event tells of that, and runs this again
    before, now = source.status, clock.now()
    match result:
        case Unavailable() as trouble:
            after = catalog_source.unavailable(before, trouble.message, now)
            pause = max(_RETRY, trouble.after)
            what = f"{without_login(request.image)}: {trouble.message}"
            wait = Wait(what, catalog_source.since(after), now + pause)
            if after == before:
                raise RetryLater(f"{ref}: {trouble.message}", after=pause, wait=wait)
            retry = Outcome(again_in=pause, summary=trouble.message, wait=wait)
            return _reported(ref, source, after, retry)
        case pulled:
            after = catalog_source.snapshotted(before, pulled.reference, request, now, left_out=pulled.left_out)
            summary = f"{pulled.reference} holds {pulled.packages} packages"
            return _reported(ref, source, after, Outcome(again_in=request.interval, summary=summary))


def _reported(ref: Ref, source: CatalogSource, after: Manifest, outcome: Outcome) -> Outcome:
    """The outcome with the status, if it changed, and with the event, if the change concerns the catalog's users."""
    before = source.status
    if after == before:
        return outcome
    emits = (Emit(names.CATALOG_SNAPSHOTTED, ref),) if catalog_source.serves_anew(before, after) else ()
    return replace(outcome, writes=(SetStatus(ref, after, source.resource_version),), emits=emits)
