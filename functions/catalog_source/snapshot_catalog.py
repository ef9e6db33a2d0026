"""Read the image of a CatalogSource by digest, and record the digest."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from shared import names
from shared.api.manifest import Manifest, ReadOnly, version_of
from shared.domain import catalog_source
from shared.domain.catalog_source import Refused
from shared.errors import RetryLater
from shared.ports import Catalogs, Clock, Cluster, ImageSource, Unavailable
from shared.step import NOTHING, Emit, Outcome, Ref, SetStatus, Wait

_RETRY = timedelta(seconds=15)


def snapshot_catalog(ref: Ref, cluster: Cluster, catalogs: Catalogs, clock: Clock) -> Outcome:
    """Read the image of a CatalogSource by digest, and record the digest.

    Reads:  the CatalogSource; its image.
    Writes: its status (`connectionState`, `reason`, `message`).
    Emits:  `io.olmf.catalog.snapshotted` when its users must look again.
    """
    source = cluster.get(ref)
    if source is None:
        return NOTHING
    before = source.get("status") or {}
    wish = catalog_source.wanted(source)
    if isinstance(wish, Refused):
        after = catalog_source.refused(before, wish)
        return _told(ref, source, after, Outcome(verdict=wish.message))
    now = clock.now()
    match catalogs.pull(ImageSource(wish.image, ref.namespace, wish.secrets)):
        case Unavailable() as trouble:
            after = catalog_source.unavailable(before, trouble.message, now)
            wait = Wait(f"{wish.image}: {trouble.message}", catalog_source.since(after), now + _RETRY)
            if after == before:
                raise RetryLater(f"{ref}: {trouble.message}", after=_RETRY, wait=wait)
            retry = Outcome(again_in=_RETRY, verdict=trouble.message, wait=wait)
            return _told(ref, source, after, retry)
        case pulled:
            after = catalog_source.snapshotted(before, pulled.reference, wish, now, left_out=pulled.left_out)
            verdict = f"{pulled.reference} holds {pulled.packages} packages"
            return _told(ref, source, after, Outcome(again_in=wish.interval, verdict=verdict))


def _told(ref: Ref, source: ReadOnly, after: Manifest, outcome: Outcome) -> Outcome:
    """The outcome with the status, if it is news, and with the event, if it concerns the catalog's users."""
    before = source.get("status") or {}
    if after == before:
        return outcome
    emits = (Emit(names.CATALOG_SNAPSHOTTED, ref),) if catalog_source.serves_anew(before, after) else ()
    return replace(outcome, writes=(SetStatus(ref, after, version_of(source)),), emits=emits)
