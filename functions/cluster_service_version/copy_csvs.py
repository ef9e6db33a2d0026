"""Keep the copies of a ClusterServiceVersion in the namespaces of its group.

Reads:  the version, its group, the Namespaces, the copies made from its namespace, other versions of its name: a new
        copy must not be written over one of them; of a global group the OLMConfig, too.
Writes: creates, refreshes and deletes copies; an Event when copying is disabled. Enqueues the group, for roles in new
        target namespaces, and the OLMConfig, for its condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta

from shared import names
from shared.api.views import Csv, Event, Namespace, OlmConfig, OperatorGroup
from shared.domain.csv import copies, copying
from shared.domain.operator_groups.group import Group
from shared.kinds import CLUSTER_SERVICE_VERSION, EVENT, NAMESPACE, OPERATOR_GROUP
from shared.ports import Attempt, Clock, Cluster, Copies, Policy
from shared.step import NOTHING, Create, Delete, Emit, Outcome, Record, Ref, Replace, SetStatus, Write

RETRY = timedelta(minutes=1)


def copy_csvs(ref: Ref, cluster: Cluster, made: Copies, clock: Clock, *, policy: Policy, attempt: Attempt) -> Outcome:
    """Create, refresh and delete the copies of one original."""
    csv = Csv.of(cluster.get(ref))
    if csv is None:
        gone = tuple(_deletions(made.made_from(ref.namespace, ref.name)))
        return Outcome(gone, summary="the original is gone, and so are its copies")
    if csv.is_copy:
        return NOTHING
    match [Group.of(one) for one in OperatorGroup.each(cluster.list(OPERATOR_GROUP, ref.namespace))]:
        case [group] if copies.is_member(csv, group):
            pass
        case _:
            return Outcome(summary="not a member of a group: copies stay as they are")
    config = OlmConfig.of(cluster.get(copying.CONFIG)) if group.is_global else None  # it concerns no others
    only = policy.protected_copy_namespaces if config and config.disables_copies else None
    namespaces = Namespace.each(cluster.list(NAMESPACE) if copies.reaches_out(group) else ())
    copy_namespaces = copies.copy_namespaces(csv, group, namespaces, only=only)
    work = copying.work(csv, group, copy_namespaces, made.made_from(ref.namespace, ref.name), now=clock.now())
    if work.to_create:
        work = work.besides(made.others(ref.namespace, ref.name))
    writes: list[Write] = [*_deletions(work.to_delete), *_copying(csv, work, attempt)]
    if config:
        writes += _notices(csv, Event.each(cluster.list(EVENT, ref.namespace)), disabled=only is not None)
    emits = [Emit(names.GRANT_DUE, OPERATOR_GROUP.ref(group.name, group.namespace))] if work.to_create else []
    emits += [Emit(names.DEPENDENT_CHANGED, copying.CONFIG)] if config and writes else []
    again_in = work.waits_until - clock.now() if work.waits_until else RETRY if attempt.failure else None
    return Outcome(tuple(writes), tuple(emits), again_in, copying.summarise(copy_namespaces, work))


def _deletions(present: Iterable[copies.Copy]) -> Iterator[Write]:
    living = ((CLUSTER_SERVICE_VERSION.ref(one.name, one.namespace), one.uid) for one in present if not one.is_deleted)
    return (Delete(ref, uid) for ref, uid in living)


def _copying(csv: Csv, work: copying.Work, attempt: Attempt) -> Iterator[Write]:
    present = {copy.namespace: copy for copy in work.to_refresh}
    digests, refused = copies.digests_of(csv), attempt.failure.ref.namespace if attempt.failure else ""
    for namespace in copying.rotated(sorted({*work.to_create, *present}), turn=attempt.number - 1, behind=refused):
        copy = present.get(namespace)
        if copy is None:
            yield Create(copies.copy_of(csv, namespace), must_be_new=True)
        elif copy.digests.content != digests.content:
            yield Replace(copies.replacement(csv, copy))
        if copy is None or copy.digests.state != digests.state:
            ref = CLUSTER_SERVICE_VERSION.ref(csv.name, namespace)
            yield SetStatus(ref, copies.status_of_copy(csv), copy.version if copy else "")


def _notices(csv: Csv, events: Iterable[Event], *, disabled: bool) -> Iterator[Write]:
    present = copying.notices_about(events, csv)
    if disabled and not present:
        yield Record(Ref.of(csv), "Warning", copying.DISABLED_REASON, copying.disabled_message(csv))
    yield from (Delete(Ref.of(event), event.uid) for event in (present[1:] if disabled else present))
