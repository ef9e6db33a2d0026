"""A verdict about a ClusterServiceVersion as an Outcome."""

from __future__ import annotations

from shared.api.manifest import Manifest, instant, metadata, version_of
from shared.domain.csv.verdict import Verdict
from shared.names import REQUIREMENT_CHANGED, UPGRADE_FAILED
from shared.step import Emit, Merge, Outcome, Record, Ref, SetStatus, Wait, Write


def outcome_of(
    csv: Manifest, verdict: Verdict, before: tuple[Write, ...] = (), after: tuple[Write, ...] = ()
) -> Outcome:
    """The writes that carry out a verdict about the ClusterServiceVersion that was read.

    A patch of the metadata is the only write of its run: it changes the resourceVersion, and its watch event starts the
    run that writes the status. An upgrade that has just failed emits `io.olmf.upgrade.failed`.
    """
    ref, status, now = Ref.of(csv), verdict.status, verdict.status.now
    writes: tuple[Write, ...] = ()
    if verdict.patch:
        writes = (Merge(ref, verdict.patch, version_of(csv)),)
    elif status.manifest != (csv.get("status") or {}):
        notices = (Record(ref, notice.type, notice.reason, notice.message) for notice in status.notices)
        writes = (SetStatus(ref, dict(status.manifest), version_of(csv)), *notices)
    next_try = now + verdict.again_in if verdict.again_in else None
    since = status.since if status.phase else instant(metadata(csv).get("creationTimestamp")) or now
    return Outcome(
        writes=(*before, *writes, *after),
        emits=(*(Emit(REQUIREMENT_CHANGED, ring) for ring in verdict.rings), *_news(csv, verdict)),
        again_in=verdict.again_in,
        verdict=verdict.sentence,
        wait=Wait(verdict.waits_for, since, next_try) if verdict.waits_for else None,
    )


def _news(csv: Manifest, verdict: Verdict) -> tuple[Emit, ...]:
    before, after = csv.get("status") or {}, verdict.status.manifest
    has_failed = not verdict.patch and after.get("phase") == "Failed" != before.get("phase")
    return (Emit(UPGRADE_FAILED, Ref.of(csv)),) if has_failed and csv["spec"].get("replaces") else ()
