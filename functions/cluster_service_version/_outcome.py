"""A transition about a ClusterServiceVersion as an Outcome."""

from __future__ import annotations

from shared.api.views import Csv
from shared.domain.csv.transition import Transition
from shared.names import REQUIREMENT_CHANGED, UPGRADE_FAILED
from shared.step import Emit, Merge, Outcome, Record, Ref, SetStatus, Wait, Write


def outcome_of(
    csv: Csv, transition: Transition, before: tuple[Write, ...] = (), after: tuple[Write, ...] = ()
) -> Outcome:
    """The writes that carry out a transition about the ClusterServiceVersion that was read.

    A patch of the metadata is the only write of its run: it changes the resourceVersion, and its watch event starts the
    run that writes the status. An upgrade that has just failed emits `io.olmf.upgrade.failed`.
    """
    ref, status, now = Ref.of(csv), transition.status, transition.status.now
    writes: tuple[Write, ...] = ()
    if transition.patch:
        writes = (Merge(ref, transition.patch, csv.resource_version),)
    elif status.manifest != csv.status:
        notices = (Record(ref, notice.type, notice.reason, notice.message) for notice in status.notices)
        writes = (SetStatus(ref, dict(status.manifest), csv.resource_version), *notices)
    next_try = now + transition.again_in if transition.again_in else None
    since = status.since if status.phase else csv.created or now
    return Outcome(
        writes=(*before, *writes, *after),
        emits=(*(Emit(REQUIREMENT_CHANGED, ref) for ref in transition.enqueues), *_notifications(csv, transition)),
        again_in=transition.again_in,
        summary=transition.sentence,
        wait=Wait(transition.waits_for, since, next_try) if transition.waits_for else None,
    )


def _notifications(csv: Csv, transition: Transition) -> tuple[Emit, ...]:
    has_failed = not transition.patch and transition.status.phase == "Failed" != csv.phase
    return (Emit(UPGRADE_FAILED, Ref.of(csv)),) if has_failed and csv.replaces else ()
