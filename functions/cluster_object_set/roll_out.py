"""Bring the objects of a revision into the cluster, phase by phase, and keep them there.

Reads:  the ClusterObjectSet, its Secrets, the others of its extension; its objects, as far as the roll-out has come.
Writes: its finalizer and what is to be watched for it; its objects; `lifecycleState` of the revisions that it has
        replaced; its status, last.
Emits:  that the revision has changed, when there is more to write than one run should.
"""

from __future__ import annotations

from dataclasses import replace

from functions.cluster_object_set._report import contested, reported
from functions.cluster_object_set._revision import archived, owned, prepared
from functions.cluster_object_set._writes import refused, writes_of
from shared import kinds, names
from shared.api.manifest import uid_of
from shared.api.views import ClusterObjectSet
from shared.domain.extension.phases import rollout
from shared.domain.extension.phases.content import Content, content_of
from shared.domain.extension.phases.objects import Claim
from shared.domain.extension.phases.revision import previous, siblings
from shared.domain.extension.phases.sources import ownerless
from shared.ports import Attempt, Clock, Cluster, Discovery
from shared.reading.present_objects import Present
from shared.reading.revision import advance, secrets_of
from shared.step import NOTHING, Emit, Outcome, Ref


def roll_out(ref: Ref, cluster: Cluster, discovery: Discovery, clock: Clock, *, attempt: Attempt) -> Outcome:
    """One look at the objects of a revision that is wanted, what is to be written of them, and how it stands."""
    revision = ClusterObjectSet.of(cluster.get(ref))
    if revision is None or revision.is_deleted or revision.is_archived:
        return NOTHING
    if reason := revision.annotation(names.HOLD):
        return Outcome(summary=f"on hold by {names.HOLD}: {reason[:200]}")
    now = clock.now()
    if why := refused(attempt):
        return reported(revision, rollout.retrying(revision.raw, why, now, again=rollout.SOON), now)
    secrets = secrets_of(revision, cluster)
    content = content_of(revision, secrets, now)
    if not isinstance(content, Content):
        return reported(revision, content, now)
    labels = {names.V1_OWNER_NAME: revision.owner}
    others = cluster.list(kinds.CLUSTER_OBJECT_SET, labels=labels) if revision.owner else ()
    claim = Claim(revision, now, frozenset(uid_of(one) for one in siblings(revision.raw, others)))
    done = advance(claim, _present(claim, Present(revision, content.phases, cluster, discovery), attempt))
    replaced = previous(revision.raw, others) if rollout.is_complete(done.phases) else ()
    writes = (
        *prepared(revision, content.phases),
        *(owned(revision, place) for place in ownerless(revision.raw, secrets)),
        *writes_of(done.tasks),
        *map(archived, replaced),
        *contested(revision, done.contested),
    )
    found = rollout.rolled_out(revision.raw, done.phases, now)
    found = rollout.sooner(found, max((one.rest for one in done.contested), default=None))
    outcome = reported(revision, found, now, digests=content.digests, writes=writes)
    return replace(outcome, emits=(Emit(names.DEPENDENT_CHANGED, ref),)) if done.is_cut else outcome


def _present(claim: Claim, present: Present, attempt: Attempt) -> Present:
    """What is read: nothing of a revision that has written nothing, each object where something is wrong."""
    revision = claim.revision
    met = attempt.conflict is not None and attempt.conflict.ref != Ref.of(revision)
    is_certain = met or revision.condition(rollout.PROGRESSING).reason == "Retrying"
    is_new = not (is_certain or claim.siblings or revision.has_succeeded)
    return replace(present, is_certain=is_certain, is_new=is_new, is_behind=is_new and not revision.digests)
