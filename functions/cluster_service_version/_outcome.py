"""A transition about a ClusterServiceVersion as an Outcome."""

from __future__ import annotations

from shared.api.manifest import Manifest, instant, metadata, resource_version_of
from shared.domain.csv.transition import Transition
from shared.names import REQUIREMENT_CHANGED, UPGRADE_FAILED
from shared.step import Emit, Merge, Outcome, Record, Ref, SetStatus, Wait, Write


def outcome_of(
    csv: Manifest, transition: Transition, before: tuple[Write, ...] = (), after: tuple[Write, ...] = ()
) -> Outcome:
    """The writes that carry out a transition about the ClusterServiceVersion that was read.

    A patch of the metadata is the only write of its run: it changes the resourceVersion, and its watch event starts the
    run that writes the status. An upgrade that has just failed emits `io.olmf.upgrade.failed`.
    """
    ref, status, now = Ref.of(csv), transition.status, transition.status.now
    writes: tuple[Write, ...] = ()
    if transition.patch:
        writes = (Merge(ref, transition.patch, resource_version_of(csv)),)
    elif status.manifest != (csv.get("status") or {}):
        notices = (Record(ref, notice.type, notice.reason, notice.message) for notice in status.notices)
        writes = (SetStatus(ref, dict(status.manifest), resource_version_of(csv)), *notices)
    next_try = now + transition.again_in if transition.again_in else None
    since = status.since if status.phase else instant(metadata(csv).get("creationTimestamp")) or now
    return Outcome(
        writes=(*before, *writes, *after),
        emits=(*(Emit(REQUIREMENT_CHANGED, ring) for ring in transition.rings), *_news(csv, transition)),
        again_in=transition.again_in,
        verdict=transition.sentence,
        wait=Wait(transition.waits_for, since, next_try) if transition.waits_for else None,
    )


def _news(csv: Manifest, transition: Transition) -> tuple[Emit, ...]:
    before, after = csv.get("status") or {}, transition.status.manifest
    has_failed = not transition.patch and after.get("phase") == "Failed" != before.get("phase")
    return (Emit(UPGRADE_FAILED, Ref.of(csv)),) if has_failed and csv["spec"].get("replaces") else ()
