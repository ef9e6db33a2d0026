"""Put back what an installed version may do, when somebody deleted part of it.

OLM leaves the version `Failed` until a person restores its roles; the InstallPlan that made them does not run again.

Reads:  the version; the ServiceAccounts, roles and bindings that its strategy asks for.
Writes: those of them that are gone.
Emits:  `io.olmf.grant.due`: its OperatorGroup looks whether it lacks a role, too.
"""

from __future__ import annotations

from shared import names
from shared.api.manifest import annotations_of
from shared.domain.lifecycle.phases import is_copied, phase_of
from shared.domain.lifecycle.rbac import objects_for
from shared.domain.lifecycle.retirement import is_deleted
from shared.kinds import OPERATOR_GROUP
from shared.ports import Cluster
from shared.step import NOTHING, Create, Emit, Outcome, Ref

_LEAVING = ("Replacing", "Deleting")


def restore_rights(ref: Ref, cluster: Cluster) -> Outcome:
    """Create what is gone of the generated rights of a version that stays."""
    csv = cluster.get(ref)
    if csv is None or is_copied(csv) or is_deleted(csv) or phase_of(csv) in _LEAVING:
        return NOTHING
    wanted = objects_for(csv, ref.namespace)
    gone = tuple(Create(manifest) for manifest in wanted if cluster.get(Ref.of(manifest)) is None)
    group = annotations_of(csv).get(names.OPERATOR_GROUP)
    emits = (Emit(names.GRANT_DUE, OPERATOR_GROUP.ref(group, ref.namespace)),) if group else ()
    return Outcome(gone, emits, verdict=f"{len(gone)} of {len(wanted)} generated rights were gone")
