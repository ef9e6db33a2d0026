"""Report on the OLMConfig whether copied CSVs are where it wants them, and have the others corrected.

Reads:  the OLMConfig; global OperatorGroups, their members and the copies of these; Namespaces.
Writes: the condition `DisabledCopiedCSVs`. Enqueues every original whose copies are not where they belong.
"""

from __future__ import annotations

from collections.abc import Iterator

from shared import names
from shared.api.views import Csv, Namespace, OlmConfig, OperatorGroup
from shared.domain.csv import copying
from shared.domain.operator_groups.group import Group
from shared.kinds import CLUSTER_SERVICE_VERSION, NAMESPACE, OPERATOR_GROUP
from shared.ports import Clock, Cluster, Copies, Policy
from shared.step import Emit, Outcome, Ref, SetStatus


def report_copying(ref: Ref, cluster: Cluster, made: Copies, clock: Clock, *, policy: Policy) -> Outcome:
    """Compare the copies of operators that watch all namespaces with the OLMConfig; without one, copies are wanted."""
    if ref != copying.CONFIG:
        return Outcome(summary="only the OLMConfig named cluster counts")
    config = OlmConfig.of(cluster.get(ref))
    misplaced, now = tuple(_misplaced(config, cluster, made, policy)), clock.now()
    if config and copying.may_wait(config, misplaced, now):
        return Outcome(again_in=copying.MAKING, summary="the copies that are missing are being made")
    emits = tuple(Emit(names.COPY_DUE, Ref.of(csv)) for csv in misplaced)
    if config is None:
        return Outcome(emits=emits)
    status = copying.config_status(config, is_misplaced=bool(misplaced), now=now)
    writes = (SetStatus(ref, status, config.resource_version),) if status != config.status else ()
    return Outcome(writes, emits, summary=f"the copies of {len(misplaced)} operators are not where they belong")


def _misplaced(config: OlmConfig | None, cluster: Cluster, made: Copies, policy: Policy) -> Iterator[Csv]:
    only = policy.protected_copy_namespaces if config and config.disables_copies else None
    groups = [group for group in map(Group.of, OperatorGroup.each(cluster.list(OPERATOR_GROUP))) if group.is_global]
    namespaces = Namespace.each(cluster.list(NAMESPACE) if groups else ())
    for group in groups:
        copies = made.made_from(group.namespace)
        for csv in Csv.each(cluster.list(CLUSTER_SERVICE_VERSION, group.namespace)):
            if copying.is_misplaced(csv, group, namespaces, copies, only=only):
                yield csv
