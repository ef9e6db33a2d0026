"""Make ClusterServiceVersions members of their namespace's OperatorGroup, and update the group's provided APIs.

Reads:  every OperatorGroup; the ClusterServiceVersions of the namespace.
Writes: annotations of members; the annotation `olm.providedAPIs` of the group. Rings members that wait for the group,
        or that it lets be replaced though they failed; groups that compete for an API which this one gave up; and the
        step that grants roles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from shared import names
from shared.api.manifest import Manifest, resource_version_of
from shared.domain.csv import retirement
from shared.domain.objects.csv import is_copied
from shared.domain.operator_groups import members
from shared.domain.operator_groups.group import Group, parse_apis
from shared.domain.operator_groups.provided_apis import apis_of, concerned, updated
from shared.domain.operator_groups.targets import refusal
from shared.kinds import CLUSTER_SERVICE_VERSION, OPERATOR_GROUP
from shared.ports import Cluster
from shared.step import Emit, Merge, Outcome, Ref, Write


def update_provided_apis(ref: Ref, cluster: Cluster) -> Outcome:
    """Update the annotations of a namespace's group and of its members (key: the Namespace)."""
    groups = cluster.list(OPERATOR_GROUP)
    own = [group for group in groups if Ref.of(group).namespace == ref.name]
    csvs = tuple(csv for csv in cluster.list(CLUSTER_SERVICE_VERSION, ref.name) if not is_copied(csv))
    match own:
        case [manifest] if not refusal(manifest):
            rivals = [Group.of(group) for group in groups if group is not manifest]
            return _served(manifest, rivals, csvs)
        case _:
            rung = (csv for csv in csvs if members.must_hear(csv, groups=len(own)))
            return Outcome(emits=tuple(_rings(rung)), verdict=f"{len(own)} groups take no members")


def _served(manifest: Manifest, rivals: Sequence[Group], csvs: Sequence[Manifest]) -> Outcome:
    group, ref = Group.of(manifest), Ref.of(manifest)
    joining = {Ref.of(csv): patch for csv in csvs if (patch := members.annotations_to_change(csv, group))}
    writes: list[Write] = [Merge(csv, {"metadata": {"annotations": patch}}) for csv, patch in joining.items()]
    kept = frozenset(api for csv in csvs for api in apis_of(csv))
    text = updated(group, rivals, map(apis_of, members.announcing(csvs, group)), kept=kept)
    met = concerned(group, text, rivals)
    emits = [Emit(names.RIVAL_CHANGED, OPERATOR_GROUP.ref(rival.name, rival.namespace)) for rival in met]
    if text != group.provided:
        writes.append(
            Merge(ref, {"metadata": {"annotations": {names.PROVIDED_APIS: text}}}, resource_version_of(manifest))
        )
    released = retirement.released(manifest, csvs)
    rung = (csv for csv in csvs if Ref.of(csv) in joining or members.must_look(csv, group, text) or csv in released)
    emits += _rings(rung)
    if not csvs or kept - parse_apis(text) or any(members.has_claims(csv, group) for csv in csvs):
        emits.append(Emit(names.GRANT_DUE, ref))
    return Outcome(tuple(writes), tuple(emits), verdict=f"provides {text or 'no API'}")


def _rings(csvs: Iterable[Manifest]) -> Iterator[Emit]:
    return (Emit(names.REQUIREMENT_CHANGED, Ref.of(csv)) for csv in csvs)
