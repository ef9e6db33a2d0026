"""Delete a ClusterServiceVersion whose successor has succeeded, and clean up one that is being deleted.

Reads:  the version and its neighbours; on deletion the cluster roles that carry its owner labels.
Writes: its status; deletes it; deletes its cluster roles, then its finalizer.
"""

from __future__ import annotations

from functions.cluster_service_version._outcome import outcome_of
from shared import kinds, names
from shared.api.manifest import Manifest, is_deleted, metadata, name_of, resource_version_of, uid_of
from shared.domain.csv import retirement
from shared.domain.csv.phases import status_of
from shared.domain.objects.csv import is_copied, phase_of
from shared.domain.objects.ownership import owner_labels
from shared.ports import Clock, Cluster
from shared.step import NOTHING, Delete, Emit, Merge, Outcome, Ref

_CLUSTER_SCOPED = (kinds.CLUSTER_ROLE_BINDING, kinds.CLUSTER_ROLE)
"""Kinds tied to a version only by labels, which the garbage collector of Kubernetes ignores."""


def replace_operator(ref: Ref, cluster: Cluster, clock: Clock) -> Outcome:
    """Write the last phases of a version, delete it, or remove the finalizer of a deleted one."""
    csv = cluster.get(ref)
    if csv is None:
        waiting = retirement.left_behind(ref, cluster.list(kinds.CLUSTER_SERVICE_VERSION, ref.namespace))
        return Outcome(emits=tuple(Emit(names.REQUIREMENT_CHANGED, other) for other in waiting))
    if is_deleted(csv):
        return _cleaned(ref, csv, cluster)
    if is_copied(csv) or phase_of(csv) not in ("Replacing", "Deleting"):
        return NOTHING
    status = status_of(csv, clock.now())
    transition = retirement.finish(csv, cluster.list(kinds.CLUSTER_SERVICE_VERSION, ref.namespace), status)
    is_over = transition.status.phase == "Deleting"
    return outcome_of(csv, transition, after=(Delete(ref, uid_of(csv)),) if is_over else ())


def _cleaned(ref: Ref, csv: Manifest, cluster: Cluster) -> Outcome:
    finalizers = metadata(csv).get("finalizers") or []
    if names.CSV_CLEANUP not in finalizers:
        return NOTHING
    found = ((kind, item) for kind in _CLUSTER_SCOPED for item in cluster.list(kind, labels=owner_labels(csv)))
    doomed = [(kind, item) for kind, item in found if not is_deleted(item)]
    kept = [finalizer for finalizer in finalizers if finalizer != names.CSV_CLEANUP]
    return Outcome(
        writes=(
            *(Delete(kind.ref(name_of(item)), uid_of(item)) for kind, item in doomed),
            Merge(ref, {"metadata": {"finalizers": kept}}, resource_version_of(csv)),
        ),
        verdict="deleted: its cluster roles go with it",
    )
