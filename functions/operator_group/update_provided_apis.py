"""Make ClusterServiceVersions members of their namespace's OperatorGroup, and update the group's provided APIs.

Reads:  every OperatorGroup; the ClusterServiceVersions of the namespace.
Writes: annotations of members; the annotation `olm.providedAPIs` of the group. Enqueues members that wait for the
        group, or that it lets be replaced though they failed; groups that compete for an API which this one gave up;
        and the step that grants roles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from shared import names
from shared.api.views import Csv, OperatorGroup
from shared.domain.csv import retirement
from shared.domain.operator_groups import members
from shared.domain.operator_groups.group import Group, parse_apis
from shared.domain.operator_groups.provided_apis import apis_of, concerned, updated
from shared.kinds import CLUSTER_SERVICE_VERSION, OPERATOR_GROUP
from shared.ports import Cluster
from shared.step import Emit, Merge, Outcome, Ref, Write


def update_provided_apis(ref: Ref, cluster: Cluster) -> Outcome:
    """Update the annotations of a namespace's group and of its members (key: the Namespace)."""
    groups = OperatorGroup.each(cluster.list(OPERATOR_GROUP))
    own = [group for group in groups if group.namespace == ref.name]
    found = Csv.each(cluster.list(CLUSTER_SERVICE_VERSION, ref.name))
    csvs = tuple(csv for csv in found if not csv.is_copy)
    match own:
        case [stored]:
            other_groups = [Group.of(group) for group in groups if group is not stored]
            return _served(stored, other_groups, csvs)
        case _:
            enqueued = (csv for csv in csvs if members.must_report_no_group(csv, groups=len(own)))
            return Outcome(emits=tuple(_enqueues(enqueued)), summary=f"{len(own)} groups take no members")


def _served(stored: OperatorGroup, other_groups: Sequence[Group], csvs: Sequence[Csv]) -> Outcome:
    group, ref = Group.of(stored), Ref.of(stored)
    joining = {Ref.of(csv): patch for csv in csvs if (patch := members.annotations_to_change(csv, group))}
    writes: list[Write] = [Merge(csv, {"metadata": {"annotations": patch}}) for csv, patch in joining.items()]
    kept = frozenset(api for csv in csvs for api in apis_of(csv))
    text = updated(group, other_groups, map(apis_of, members.announcing(csvs, group)), kept=kept)
    met = concerned(group, text, other_groups)
    emits = [Emit(names.GROUP_CONFLICT_CHANGED, OPERATOR_GROUP.ref(each.name, each.namespace)) for each in met]
    if text != group.provided:
        writes.append(Merge(ref, {"metadata": {"annotations": {names.PROVIDED_APIS: text}}}, stored.resource_version))
    released = retirement.released(stored, csvs)
    enqueued = (
        csv for csv in csvs if Ref.of(csv) in joining or members.must_check_again(csv, group, text) or csv in released
    )
    emits += _enqueues(enqueued)
    if not csvs or kept - parse_apis(text) or any(members.has_claims(csv, group) for csv in csvs):
        emits.append(Emit(names.GRANT_DUE, ref))
    return Outcome(tuple(writes), tuple(emits), summary=f"provides {text or 'no API'}")


def _enqueues(csvs: Iterable[Csv]) -> Iterator[Emit]:
    return (Emit(names.REQUIREMENT_CHANGED, Ref.of(csv)) for csv in csvs)
