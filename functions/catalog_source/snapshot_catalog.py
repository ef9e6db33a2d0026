"""Read the image of a CatalogSource by digest, and record the digest.

Reads:  the CatalogSource; its image.
Writes: its status (`connectionState`, `reason`, `message`).
Emits:  `io.olmf.catalog.snapshotted` when its users must be reconciled again.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from shared import names
from shared.api.manifest import Manifest, ReadOnly, resource_version_of
from shared.domain import catalog_source
from shared.domain.catalog.image_reference import without_login
from shared.domain.catalog_source import Refused
from shared.domain.image_source import ImageSource
from shared.errors import RetryLater
from shared.ports import Attempt, Catalogs, Clock, Cluster, Unavailable
from shared.step import NOTHING, Emit, Outcome, Ref, SetStatus, Wait

_RETRY = timedelta(seconds=15)


def snapshot_catalog(ref: Ref, cluster: Cluster, catalogs: Catalogs, clock: Clock, *, attempt: Attempt) -> Outcome:
    """Update the status of a CatalogSource from its image."""
    source = cluster.get(ref)
    if source is None:
        return NOTHING
    wish = catalog_source.wanted(source)
    if isinstance(wish, Refused):
        return NOTHING  # `check_catalog` says why
    before, now = source.get("status") or {}, clock.now()
    if not (attempt.ended or before.get("connectionState")):
        return NOTHING  # `check_catalog` says first that it is read, and this change of the status runs it again
    # A pull that was ended could not tell why; the next attempt does that, and the one after it pulls again.
    ended = Unavailable("Unreachable", f"the pull was {attempt.ended}") if attempt.ended else None
    match ended or catalogs.pull(ImageSource(wish.image, ref.namespace, wish.secrets)):
        case Unavailable() as trouble:
            after = catalog_source.unavailable(before, trouble.message, now)
            pause = max(_RETRY, trouble.after)
            what = f"{without_login(wish.image)}: {trouble.message}"
            wait = Wait(what, catalog_source.since(after), now + pause)
            if after == before:
                raise RetryLater(f"{ref}: {trouble.message}", after=pause, wait=wait)
            retry = Outcome(again_in=pause, verdict=trouble.message, wait=wait)
            return _reported(ref, source, after, retry)
        case pulled:
            after = catalog_source.snapshotted(before, pulled.reference, wish, now, left_out=pulled.left_out)
            verdict = f"{pulled.reference} holds {pulled.packages} packages"
            return _reported(ref, source, after, Outcome(again_in=wish.interval, verdict=verdict))


def _reported(ref: Ref, source: ReadOnly, after: Manifest, outcome: Outcome) -> Outcome:
    """The outcome with the status, if it changed, and with the event, if the change concerns the catalog's users."""
    before = source.get("status") or {}
    if after == before:
        return outcome
    emits = (Emit(names.CATALOG_SNAPSHOTTED, ref),) if catalog_source.serves_anew(before, after) else ()
    return replace(outcome, writes=(SetStatus(ref, after, resource_version_of(source)),), emits=emits)
