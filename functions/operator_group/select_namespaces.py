"""Select the namespaces of an OperatorGroup, label them, and enqueue the groups that this affects.

Reads:  every OperatorGroup; the Namespaces that are selected now or were before; the ServiceAccount of the group.
Writes: labels of Namespaces and of that account; the status of the group. Enqueues the other groups of its namespace,
        and groups that no longer share a namespace with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from shared import names
from shared.api.views import Namespace, OperatorGroup
from shared.domain.operator_groups import targets
from shared.domain.operator_groups.group import Group
from shared.kinds import NAMESPACE, OPERATOR_GROUP
from shared.ports import Clock, Cluster
from shared.reading.identity import account_of
from shared.step import Emit, Merge, Outcome, Ref, SetStatus, Write


def select_namespaces(ref: Ref, cluster: Cluster, clock: Clock) -> Outcome:
    """Bring the status of the group and the labels of its namespaces up to date."""
    others = {Ref.of(one): one for one in OperatorGroup.each(cluster.list(OPERATOR_GROUP))}
    group = others.pop(ref, None)
    siblings = [one for one in others.values() if one.namespace == ref.namespace]
    other_groups = [Group.of(one) for one in others.values()]
    if group is None:
        enqueues = (
            *_enqueues(siblings, has_siblings=len(siblings) > 1),
            *(Emit(names.GROUP_CONFLICT_CHANGED, other) for other in others),
        )
        return Outcome(
            tuple(_labels(Namespace.each(cluster.list(NAMESPACE)), other_groups)),
            enqueues,
            summary="forgets a deleted group",
        )
    namespaces = Namespace.each(cluster.list(NAMESPACE) if targets.needs_namespaces(group) else ())
    selected = targets.selection(group, namespaces)
    before, after = Group.of(group), replace(Group.of(group), targets=selected)
    writes = [*_labels(namespaces or _concerned(after, cluster), [*other_groups, after])]
    account = account_of(group.service_account, group.namespace, cluster)
    if account is not None and names.MANAGED not in account.labels:
        writes.append(Merge(Ref.of(account), {"metadata": {"labels": {names.MANAGED: "true"}}}))
    desired = targets.status(group, selected, account=account, has_siblings=bool(siblings), now=clock.now())
    if desired != group.status:
        writes.append(SetStatus(ref, desired, group.resource_version))
    relieved = [each for each in other_groups if before.meets(each) and not after.meets(each)]
    enqueues = (
        *_enqueues(siblings, has_siblings=True),
        *(Emit(names.GROUP_CONFLICT_CHANGED, OPERATOR_GROUP.ref(each.name, each.namespace)) for each in relieved),
    )
    return Outcome(tuple(writes), enqueues, summary=targets.described(selected))


def _enqueues(siblings: Iterable[OperatorGroup], *, has_siblings: bool) -> Iterator[Emit]:
    for group in siblings:
        if targets.expects_warning(group, has_siblings=has_siblings):
            yield Emit(names.GROUP_CHANGED, Ref.of(group))


def _concerned(group: Group, cluster: Cluster) -> tuple[Namespace, ...]:
    """The namespaces that have the label of the group, and those that must get it."""
    found = cluster.list(NAMESPACE, labels={targets.label_of(group.uid): ""})
    labelled = {Ref.of(one): one for one in Namespace.each(found)}
    desired = () if group.is_global else map(NAMESPACE.ref_or_none, group.targets or ())
    unlabelled = (Namespace.of(cluster.get(target)) for target in desired if target and target not in labelled)
    return (*labelled.values(), *filter(None, unlabelled))


def _labels(namespaces: Iterable[Namespace], groups: list[Group]) -> Iterator[Write]:
    for namespace in namespaces:
        if patch := targets.label_patch(namespace, groups):
            yield Merge(Ref.of(namespace), {"metadata": {"labels": dict(patch)}})
