"""Read the ConfigMap of a CatalogSource of type `configmap` or `internal`, and record its content.

Reads:  the CatalogSource; its ConfigMap.
Writes: its status (`configMapReference`, `connectionState`, `reason`, `message`); label and owner of the ConfigMap.
Emits:  `io.olmf.catalog.snapshotted` when its users must be reconciled again.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from shared import names
from shared.api.manifest import Manifest
from shared.api.views import CatalogSource, ConfigMap
from shared.domain import catalog_source, config_map_source
from shared.domain.catalog_source import Refused
from shared.domain.image_source import ImageSource
from shared.kinds import CONFIG_MAP
from shared.ports import Attempt, Catalogs, Clock, Cluster, Unavailable
from shared.step import NOTHING, Emit, Merge, Outcome, Ref, SetStatus, Wait

_RETRY, _SOON = timedelta(seconds=15), timedelta(seconds=1)


def snapshot_config_map(ref: Ref, cluster: Cluster, catalogs: Catalogs, clock: Clock, *, attempt: Attempt) -> Outcome:
    """Update the status of a CatalogSource from its ConfigMap."""
    source = CatalogSource.of(cluster.get(ref))
    if source is None or not source.config_map or source.type not in config_map_source.TYPES:
        return NOTHING
    config_map = ConfigMap.of(CONFIG_MAP.look_up(cluster.get, source.config_map, ref.namespace))
    if config_map is None:
        after = config_map_source.absent(source, clock.now())
        pause = config_map_source.looked_for_after(after, clock.now())  # the watcher tells of it at once, Knative never
        return _reported(source, after, "it is not there", again_in=pause)
    if (refusal := attempt.failure) and refusal.ref == Ref.of(config_map):
        after = config_map_source.unowned(source, refusal.message, clock.now())
        return _reported(source, after, refusal.message, again_in=_RETRY)
    if patch := config_map_source.adopted(config_map, source):
        # It is read by another run: its resourceVersion is another one by then. Not at once, or a server that drops the
        # label would be asked without a pause.
        return Outcome(
            (Merge(Ref.of(config_map), patch, config_map.resource_version),),
            again_in=_SOON,
            summary="its ConfigMap is watched from now on",
        )
    request = catalog_source.catalog_request(source)
    if isinstance(request, Refused):
        return NOTHING  # `check_catalog` says why
    before, now = config_map_source.referred(source.status, config_map, clock.now()), clock.now()
    match catalogs.pull(ImageSource(request.image, ref.namespace)):
        case Unavailable("Malformed") as trouble:
            after = catalog_source.unavailable(before, trouble.message, now)
            return _reported(source, after, trouble.message, again_in=None)  # until somebody edits it
        case Unavailable() as trouble:
            after = catalog_source.unavailable(before, trouble.message, now)
            pause = max(_RETRY, trouble.after)
            wait = Wait(trouble.message, catalog_source.since(after), now + pause)
            return replace(_reported(source, after, trouble.message, again_in=pause), wait=wait)
        case pulled:
            read = catalog_source.snapshotted(before, pulled.reference, request, now, left_out=pulled.left_out)
            after = config_map_source.connected(read)
            return _reported(source, after, f"{pulled.reference} holds {pulled.packages} packages", again_in=None)


def _reported(source: CatalogSource, after: Manifest, summary: str, *, again_in: timedelta | None) -> Outcome:
    before, ref = source.status, Ref.of(source)
    if after == before:
        return Outcome(again_in=again_in, summary=summary)
    emits = (Emit(names.CATALOG_SNAPSHOTTED, ref),) if catalog_source.serves_anew(before, after) else ()
    return Outcome((SetStatus(ref, after, source.resource_version),), emits, again_in, summary)
