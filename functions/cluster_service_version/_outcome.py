"""A transition about a ClusterServiceVersion as an Outcome, and that after a refused write."""

from __future__ import annotations

from shared import kinds
from shared.api.views import Csv
from shared.domain.csv import installation
from shared.domain.csv.phases import Status
from shared.domain.csv.transition import Transition
from shared.names import REQUIREMENT_CHANGED, UPGRADE_FAILED
from shared.ports import Attempt
from shared.step import Emit, Merge, Outcome, Record, Ref, SetStatus, Wait, Write

_REFUSED = ("forbidden", "invalid")
_UNANSWERED = ("InstallReady", "unanswered")
"""The phase in which a webhook that does not answer is a failure: whatever works already goes on working."""
_UNRECOVERABLE = {kind.kind for kind in (kinds.DEPLOYMENT, kinds.API_SERVICE, *kinds.WEBHOOK_CONFIGURATIONS)}
"""Kinds of which a forbidden write waits for other rights (csv.md §4.3)."""


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


def refused(attempt: Attempt, csv: Csv, status: Status) -> Outcome | None:
    """The failure of a version for which the API server refused a write of another object; None without one.

    None also when another client has changed or deleted that object meanwhile: it is read again.
    """
    failure = attempt.failure
    if failure is None or failure.ref == Ref.of(csv):
        return None
    if failure.kind not in _REFUSED and (status.phase, failure.kind) != _UNANSWERED:
        return None
    is_forbidden = failure.kind == "forbidden" and failure.ref.kind in _UNRECOVERABLE
    return outcome_of(csv, installation.refused(status, failure.message, is_forbidden=is_forbidden))


def _notifications(csv: Csv, transition: Transition) -> tuple[Emit, ...]:
    has_failed = not transition.patch and transition.status.phase == "Failed" != csv.phase
    return (Emit(UPGRADE_FAILED, Ref.of(csv)),) if has_failed and csv.replaces else ()
