"""Delete a ClusterServiceVersion whose successor has succeeded, and clean up one that is being deleted, or is gone.

Reads:  the version and its neighbours; on deletion what carries its owner labels, and the definitions it converts.
Writes: its status; deletes it; deletes its cluster roles, APIServices and configurations, ends its conversions, takes
        its subjects out of shared bindings, then removes its finalizer.
"""

from __future__ import annotations

from functions.cluster_service_version._endpoint_writes import writes_of
from functions.cluster_service_version._outcome import outcome_of
from shared import kinds, names
from shared.api.views import Csv, Object
from shared.domain.csv import retirement
from shared.domain.csv.phases import status_of
from shared.domain.endpoints.changes import Change
from shared.domain.endpoints.retreat import taken_back
from shared.domain.endpoints.sharing import is_shared
from shared.domain.objects.ownership import labels_for, owner_labels
from shared.ports import Clock, Cluster, Listing
from shared.reading.endpoints import facts_of
from shared.step import NOTHING, Delete, Emit, Merge, Outcome, Ref

_LEADING = (kinds.API_SERVICE, *kinds.WEBHOOK_CONFIGURATIONS)
_CLUSTER_SCOPED = (*_LEADING, kinds.CLUSTER_ROLE_BINDING, kinds.CLUSTER_ROLE)
"""Kinds tied to a version only by labels, which the garbage collector of Kubernetes ignores."""


def replace_operator(ref: Ref, cluster: Cluster, clock: Clock) -> Outcome:
    """Write the last phases of a version, delete it, or remove the finalizer of a deleted one."""
    csv = Csv.of(cluster.get(ref))
    if csv is None:
        waiting = retirement.left_behind(ref, Csv.each(cluster.list(kinds.CLUSTER_SERVICE_VERSION, ref.namespace)))
        return Outcome(_orphaned(ref, cluster), tuple(Emit(names.REQUIREMENT_CHANGED, other) for other in waiting))
    if csv.is_deleted:
        return _cleaned(ref, csv, cluster)
    if csv.is_copy or csv.phase not in ("Replacing", "Deleting"):
        return NOTHING
    status = status_of(csv, clock.now())
    transition = retirement.finish(csv, Csv.each(cluster.list(kinds.CLUSTER_SERVICE_VERSION, ref.namespace)), status)
    is_over = transition.status.phase == "Deleting"
    return outcome_of(csv, transition, after=(Delete(ref, csv.uid),) if is_over else ())


def _orphaned(ref: Ref, cluster: Cluster) -> tuple[Delete, ...]:
    """Delete what leads to a version that is not there: somebody made it, or its finalizer was taken away."""
    labels = labels_for(ref.name, ref.namespace)
    found = cluster.list_all([Listing(kind, labels=labels) for kind in _LEADING])
    return tuple(
        Delete(Ref.of(one), one.uid, resource_version=one.resource_version)
        for each in found
        for one in Object.each(each)
        if not one.is_deleted
    )


def _cleaned(ref: Ref, csv: Csv, cluster: Cluster) -> Outcome:
    if names.CSV_CLEANUP not in csv.finalizers:
        return NOTHING
    found = [one for kind in _CLUSTER_SCOPED for one in Object.each(cluster.list(kind, labels=owner_labels(csv)))]
    back = [*taken_back(csv, facts_of(csv, cluster, {}, ()))]
    changes = {one.ref: one for one in back if isinstance(one, Change)}
    found = [one for one in found if not is_shared(one)]
    to_delete = {Ref.of(one): one for one in (*found, *(one for one in back if isinstance(one, Object)))}
    kept = [finalizer for finalizer in csv.finalizers if finalizer != names.CSV_CLEANUP]
    return Outcome(
        writes=(
            *(Delete(one, each.uid) for one, each in to_delete.items() if one not in changes and not each.is_deleted),
            *writes_of(changes.values()),
            Merge(ref, {"metadata": {"finalizers": kept}}, csv.resource_version),
        ),
        summary="deleted: its cluster roles go with it, and all that led to its webhooks and APIs",
    )
