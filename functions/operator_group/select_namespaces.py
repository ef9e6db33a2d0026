"""Select the namespaces of an OperatorGroup, label them, and wake the groups that this affects.

Reads:  every OperatorGroup; the Namespaces that are selected now or were before.
Writes: labels of Namespaces; the status of the group. Rings the other groups of its namespace, and groups that no
        longer share a namespace with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from shared import names
from shared.api.manifest import Manifest, ReadOnly, resource_version_of
from shared.domain.operator_groups import targets
from shared.domain.operator_groups.group import Group
from shared.kinds import NAMESPACE, OPERATOR_GROUP
from shared.ports import Clock, Cluster
from shared.step import Emit, Merge, Outcome, Ref, SetStatus, Write


def select_namespaces(ref: Ref, cluster: Cluster, clock: Clock) -> Outcome:
    """Bring the status of the group and the labels of its namespaces up to date."""
    others = {Ref.of(item): item for item in cluster.list(OPERATOR_GROUP)}
    group = others.pop(ref, None)
    beside = [item for item in others.values() if Ref.of(item).namespace == ref.namespace]
    rivals = [Group.of(item) for item in others.values()]
    if group is None:
        rings = (*_rings(beside, has_siblings=len(beside) > 1), *(Emit(names.RIVAL_CHANGED, other) for other in others))
        return Outcome(tuple(_labels(cluster.list(NAMESPACE), rivals)), rings, verdict="forgets a deleted group")
    namespaces = cluster.list(NAMESPACE) if targets.needs_namespaces(group) else ()
    selected = targets.selection(group, namespaces)
    before, after = Group.of(group), replace(Group.of(group), targets=selected)
    writes = [*_labels(namespaces or _concerned(after, cluster), [*rivals, after])]
    wanted = targets.status(group, selected, has_siblings=bool(beside), now=clock.now())
    if wanted != (group.get("status") or {}):
        writes.append(SetStatus(ref, wanted, resource_version_of(group)))
    relieved = [rival for rival in rivals if before.meets(rival) and not after.meets(rival)]
    rings = (
        *_rings(beside, has_siblings=True),
        *(Emit(names.RIVAL_CHANGED, OPERATOR_GROUP.ref(rival.name, rival.namespace)) for rival in relieved),
    )
    return Outcome(tuple(writes), rings, verdict=targets.described(selected))


def _rings(beside: Iterable[ReadOnly], *, has_siblings: bool) -> Iterator[Emit]:
    for group in beside:
        if targets.expects_warning(group, has_siblings=has_siblings):
            yield Emit(names.GROUP_CHANGED, Ref.of(group))


def _concerned(group: Group, cluster: Cluster) -> tuple[Manifest, ...]:
    """The namespaces that have the label of the group, and those that must get it."""
    labelled = {Ref.of(item): item for item in cluster.list(NAMESPACE, labels={targets.label_of(group.uid): ""})}
    wanted = () if group.is_global else map(NAMESPACE.ref_or_none, group.targets or ())
    unlabelled = (cluster.get(target) for target in wanted if target and target not in labelled)
    return (*labelled.values(), *filter(None, unlabelled))


def _labels(namespaces: Iterable[Manifest], groups: list[Group]) -> Iterator[Write]:
    for namespace in namespaces:
        if patch := targets.label_patch(namespace, groups):
            yield Merge(Ref.of(namespace), {"metadata": {"labels": dict(patch)}})
