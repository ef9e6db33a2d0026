"""Take the objects of a revision out of the cluster that is archived or deleted, the last phase first.

Reads:  the ClusterObjectSet, its Secrets, its objects as far as the teardown has come.
Writes: deletes the objects that are its own, gives up the others; its status; its finalizer, last.
"""

from __future__ import annotations

from dataclasses import replace

from functions.cluster_object_set._report import reported
from functions.cluster_object_set._revision import unguarded
from functions.cluster_object_set._writes import refused, teardown_of
from shared import names
from shared.api.views import ClusterObjectSet
from shared.domain.extension.phases import rollout
from shared.domain.extension.phases.actions import Teardown
from shared.domain.extension.phases.objects import terminating
from shared.domain.extension.phases.packing import Unreadable
from shared.domain.extension.phases.sources import resolved
from shared.ports import Attempt, Clock, Cluster, Discovery
from shared.reading.present_objects import Present
from shared.reading.revision import Left, left_of, secrets_of
from shared.step import NOTHING, Outcome, Ref


def tear_down(ref: Ref, cluster: Cluster, discovery: Discovery, clock: Clock, *, attempt: Attempt) -> Outcome:
    """One look at the last phase that has objects left. Whoever is not ours is let go, never deleted."""
    revision = ClusterObjectSet.of(cluster.get(ref))
    if revision is None or names.V1_TEARDOWN not in revision.finalizers:
        return NOTHING
    if not (revision.is_deleted or revision.is_archived):
        return NOTHING
    if revision.is_archived and revision.condition(rollout.PROGRESSING).reason == "Archived":
        return Outcome(unguarded(revision), summary="its objects are gone")
    now = clock.now()
    if why := refused(attempt, "error archiving revision"):
        return reported(revision, rollout.retrying(revision.raw, why, now, again=rollout.SOON), now)
    try:
        phases = resolved(revision.raw, secrets_of(revision, cluster))
    except Unreadable as error:
        if revision.is_deleted:  # its Secrets went before it: what is left, the garbage collector takes
            return Outcome(unguarded(revision), summary=f"let go without its content: {error}")
        return reported(revision, rollout.retrying(revision.raw, str(error), now, again=rollout.SOON), now)
    left = _left(Present(revision, phases, cluster, discovery))
    writes = tuple(teardown_of(one, revision) for one in left)
    if any(one.action is Teardown.DELETE for one in left):
        stuck = terminating(one.actual for one in left) if revision.is_deleted else ""
        found = rollout.archived(revision.raw, now, is_done=False, terminating=stuck)
        return reported(revision, found, now, writes=writes)
    if revision.is_archived:
        outcome = reported(revision, rollout.archived(revision.raw, now, is_done=True), now, writes=writes)
        if outcome.writes:
            return outcome
    return Outcome((*writes, *unguarded(revision)), summary="its objects are gone")


def _left(present: Present) -> tuple[Left, ...]:
    """What is left; before nothing is, each object is asked for by its name."""
    left = left_of(present)
    if present.has_lists and not any(one.action is Teardown.DELETE for one in left):
        return left_of(replace(present, is_certain=True))
    return left
