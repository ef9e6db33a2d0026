"""Report on a CatalogSource how far its pull is, while it goes on.

No event runs this step: it runs now and then inside of the long run, which holds the object.

Reads:  the CatalogSource; how far the run is.
Writes: the condition `Pulling` of its status, which `snapshot_catalog` takes away when the pull has ended.
"""

from __future__ import annotations

from shared.api.manifest import resource_version_of
from shared.api.views import CatalogSource
from shared.domain.catalog_source import with_pulling
from shared.ports import Clock, Cluster, Runs
from shared.step import NOTHING, Outcome, Ref, SetStatus


def report_progress(ref: Ref, cluster: Cluster, runs: Runs, clock: Clock) -> Outcome:
    """Write the condition."""
    source, progress = cluster.get(ref), runs.progress(ref)
    if source is None or progress is None:
        return NOTHING
    status = with_pulling(CatalogSource(source), progress, clock.now())
    return Outcome((SetStatus(ref, status, resource_version_of(source)),), summary=str(progress))
