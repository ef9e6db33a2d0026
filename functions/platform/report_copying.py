"""Report on the OLMConfig whether copied CSVs are where it wants them, and have the others corrected.

Reads:  the OLMConfig; global OperatorGroups, their members and the copies of these; Namespaces.
Writes: the condition `DisabledCopiedCSVs`. Rings every original whose copies are not where they belong.
"""

from __future__ import annotations

from collections.abc import Iterator

from shared import names
from shared.api.manifest import Manifest, resource_version_of
from shared.domain.csv import copying
from shared.domain.operator_groups.group import Group
from shared.kinds import CLUSTER_SERVICE_VERSION, NAMESPACE, OPERATOR_GROUP
from shared.ports import Clock, Cluster, Copies, Policy
from shared.step import Emit, Outcome, Ref, SetStatus


def report_copying(ref: Ref, cluster: Cluster, made: Copies, clock: Clock, *, policy: Policy) -> Outcome:
    """Compare the copies of operators that watch all namespaces with the OLMConfig; without one, copies are wanted."""
    if ref != copying.CONFIG:
        return Outcome(verdict="only the OLMConfig named cluster counts")
    config = cluster.get(ref)
    astray = tuple(_astray(config, cluster, made, policy))
    emits = tuple(Emit(names.COPY_DUE, Ref.of(csv)) for csv in astray)
    if config is None:
        return Outcome(emits=emits)
    status = copying.config_status(config, is_astray=bool(astray), now=clock.now())
    writes = (SetStatus(ref, status, resource_version_of(config)),) if status != config.get("status") else ()
    return Outcome(writes, emits, verdict=f"the copies of {len(astray)} operators are not where they belong")


def _astray(config: Manifest | None, cluster: Cluster, made: Copies, policy: Policy) -> Iterator[Manifest]:
    only = policy.protected_copy_namespaces if copying.is_disabled(config) else None
    groups = [group for group in map(Group.of, cluster.list(OPERATOR_GROUP)) if group.is_global]
    namespaces = cluster.list(NAMESPACE) if groups else ()
    for group in groups:
        copies = made.made_from(group.namespace)
        for csv in cluster.list(CLUSTER_SERVICE_VERSION, group.namespace):
            if copying.is_astray(csv, group, namespaces, copies, only=only):
                yield csv
