"""Put back what an installed version may do, when somebody deleted or changed part of it.

OLM leaves the version `Failed` until a person restores its roles; the InstallPlan that made them does not run again.
Only what such a plan made comes back: whoever may write a version must not get the rights that it asks for.

Reads:  the version; the InstallPlans of its namespace; the ServiceAccounts, roles and bindings that they made for it.
Writes: those of them that are gone.
Emits:  `io.olmf.grant.due`: its OperatorGroup (of a copy: its original's) looks whether what it granted is in place.
"""

from __future__ import annotations

from shared import names
from shared.api.manifest import Manifest, annotations_of, name_of
from shared.domain.lifecycle import rbac
from shared.domain.lifecycle.phases import is_copied, phase_of
from shared.domain.lifecycle.retirement import is_deleted
from shared.kinds import INSTALL_PLAN, OPERATOR_GROUP
from shared.ports import Cluster
from shared.step import NOTHING, Create, Emit, Outcome, Ref

_LEAVING = ("Replacing", "Deleting")


def restore_rights(ref: Ref, cluster: Cluster) -> Outcome:
    """Create what is gone of the rights that a plan gave to a version that stays."""
    csv = cluster.get(ref)
    if csv is None or is_deleted(csv) or phase_of(csv) in _LEAVING:
        return NOTHING
    if is_copied(csv):
        return Outcome(emits=_group(csv), verdict="rights beside a copy come from the group of its original")
    given = rbac.given(csv, cluster.list(INSTALL_PLAN, ref.namespace))
    wanted = [each for each in rbac.objects_for(csv, ref.namespace) if (each["kind"], name_of(each)) in given]
    gone = tuple(Create(manifest) for manifest in wanted if cluster.get(Ref.of(manifest)) is None)
    return Outcome(gone, _group(csv), verdict=f"{len(gone)} of {len(wanted)} generated rights were gone")


def _group(csv: Manifest) -> tuple[Emit, ...]:
    annotations = annotations_of(csv)
    name, home = annotations.get(names.OPERATOR_GROUP), annotations.get(names.OPERATOR_NAMESPACE)
    return (Emit(names.GRANT_DUE, OPERATOR_GROUP.ref(name, home)),) if name and home else ()
