"""Check one copy of a ClusterServiceVersion: delete it where none is wanted, have it repaired where it differs.

Reads:  the copy and its original; when the copy was deleted, the groups that watch its namespace.
Writes: deletes the copy; restores the label by which copies are listed. Enqueues the original.
"""

from __future__ import annotations

from collections.abc import Iterator

from shared import names
from shared.api.views import Csv, OperatorGroup
from shared.domain.csv import copies
from shared.domain.operator_groups.group import Group, operator_namespaces_of
from shared.kinds import CLUSTER_SERVICE_VERSION, OPERATOR_GROUP
from shared.ports import Cluster
from shared.step import NOTHING, Delete, Emit, Merge, Outcome, Ref

_NOT_OURS = (
    f"counts as a copy, and is not installed, because its annotation {names.OPERATOR_NAMESPACE} names another "
    "namespace or its status says Copied: delete it, and create it again without that annotation and without status"
)


def copy_csv(ref: Ref, cluster: Cluster) -> Outcome:
    """Delete an unwanted copy; enqueue the original when the copy differs from it or was deleted."""
    found = Csv.of(cluster.get(ref))
    if found is None:
        return Outcome(emits=tuple(_originals(ref, cluster)), summary="the copy is gone")
    if not found.is_copy:
        return NOTHING
    if found.is_deleted:  # an original that somebody labelled as a copy still has its finalizer
        return Outcome(emits=(Emit(names.REQUIREMENT_CHANGED, ref),) if found.finalizers else ())
    copy = copies.Copy.of(found)
    if copies.is_hidden(found):
        label = {"metadata": {"labels": {names.COPIED_FROM: copy.origin}}}
        return Outcome((Merge(ref, label),), summary="its label was edited")
    if names.COPIED_FROM not in found.labels:
        return Outcome(summary=_NOT_OURS)
    parent = Csv.of(CLUSTER_SERVICE_VERSION.look_up(cluster.get, ref.name, copy.origin))
    if reason := copies.dangling(copy, parent):
        return Outcome((Delete(ref, copy.uid),), summary=f"deleted: {reason}")
    if parent is None or copy.digests == copies.digests_of(parent):
        return NOTHING
    return Outcome(emits=(Emit(names.COPY_DUE, Ref.of(parent)),), summary="differs from its original")


def _originals(ref: Ref, cluster: Cluster) -> Iterator[Emit]:
    holders = operator_namespaces_of(map(Group.of, OperatorGroup.each(cluster.list(OPERATOR_GROUP))), ref.namespace)
    for original in (CLUSTER_SERVICE_VERSION.ref(ref.name, origin) for origin in sorted(holders)):
        found = Csv.of(cluster.get(original))
        if found and not found.is_copy:
            yield Emit(names.COPY_DUE, original)
