"""Read the image of a CatalogSource by digest, and record the digest.

Reads:  the CatalogSource; its image; the version of the API server when a template contains it.
Writes: its status (`connectionState`, `reason`, `message`, the conditions of a template); `spec.image` computed from
        the template.
Emits:  `io.olmf.catalog.snapshotted` when its users must be reconciled again.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from shared import names
from shared.api.manifest import Manifest, ReadOnly, resource_version_of
from shared.domain import catalog_source, image_template
from shared.domain.catalog.image_reference import without_login
from shared.domain.catalog_source import Refused
from shared.domain.image_source import ImageSource
from shared.errors import RetryLater
from shared.ports import Attempt, Catalogs, Clock, Cluster, Discovery, Unavailable
from shared.step import NOTHING, Emit, Merge, Outcome, Ref, SetStatus, Wait

_RETRY = timedelta(seconds=15)
_RESYNC = timedelta(minutes=15)
"""Interval at which a template is evaluated again: no event reports an upgrade of the API server."""


def snapshot_catalog(
    ref: Ref, cluster: Cluster, discovery: Discovery, catalogs: Catalogs, clock: Clock, *, attempt: Attempt
) -> Outcome:
    """Update the status of a CatalogSource from its image."""
    source = cluster.get(ref)
    if source is None:
        return NOTHING
    now = clock.now()
    template = image_template.template_of(source)
    image = image_template.filled(template, discovery.version()) if template else None
    before = image_template.told(source.get("status") or {}, image, now)
    if image is not None and image.is_usable and image.image != source["spec"].get("image"):
        return _with_image(ref, source, before, image.image)
    wish = catalog_source.wanted(source)
    if isinstance(wish, Refused):
        after = catalog_source.refused(before, wish)
        return _reported(ref, source, after, Outcome(again_in=_RESYNC if image else None, verdict=wish.message))
    if not attempt.ended and (first := catalog_source.connecting(before, now)):
        write = SetStatus(ref, first, resource_version_of(source))
        return Outcome((write,), again_in=timedelta(), verdict="reads it at once")
    # A pull that was ended could not tell why; the next attempt does that, and the one after it pulls again.
    ended = Unavailable("Unreachable", f"the pull was {attempt.ended}") if attempt.ended else None
    match ended or catalogs.pull(ImageSource(wish.image, ref.namespace, wish.secrets)):
        case Unavailable() as trouble:
            after = catalog_source.unavailable(before, trouble.message, now)
            pause = max(_RETRY, trouble.after)
            what = f"{without_login(wish.image)}: {trouble.message}"
            wait = Wait(what, catalog_source.since(after), now + pause)
            if after == source.get("status"):
                raise RetryLater(f"{ref}: {trouble.message}", after=pause, wait=wait)
            return _reported(ref, source, after, Outcome(again_in=pause, verdict=trouble.message, wait=wait))
        case pulled:
            after = catalog_source.snapshotted(before, pulled.reference, wish, now, left_out=pulled.left_out)
            verdict = f"{pulled.reference} holds {pulled.packages} packages"
            again_in = min(wish.interval or _RESYNC, _RESYNC) if image else wish.interval
            return _reported(ref, source, after, Outcome(again_in=again_in, verdict=verdict))


def _with_image(ref: Ref, source: ReadOnly, status: Manifest, image: str) -> Outcome:
    """Write the new image to the spec; this change runs the step again."""
    version = resource_version_of(source)
    writes = (Merge(ref, {"spec": {"image": image}}, version), SetStatus(ref, status, version))
    return Outcome(writes, verdict=f"the template says {image}")


def _reported(ref: Ref, source: ReadOnly, after: Manifest, outcome: Outcome) -> Outcome:
    """The outcome with the status, if it changed, and with the event, if the change concerns the catalog's users."""
    before = source.get("status") or {}
    if after == before:
        return outcome
    emits = (Emit(names.CATALOG_SNAPSHOTTED, ref),) if catalog_source.serves_anew(before, after) else ()
    return replace(outcome, writes=(SetStatus(ref, after, resource_version_of(source)),), emits=emits)
