"""What a ClusterObjectSet says after a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from shared.api.manifest import Manifest
from shared.api.views import ClusterObjectSet
from shared.domain.extension.phases.objects import TRUCE, Task, described
from shared.domain.extension.phases.rollout import RolloutStatus
from shared.domain.extension.status import with_conditions
from shared.step import Outcome, Record, Ref, SetStatus, Wait, Write

_NAMED = 5


def reported(
    revision: ClusterObjectSet, found: RolloutStatus, now: datetime, *,
    digests: Mapping[str, str] | None = None, writes: tuple[Write, ...] = (),
) -> Outcome:  # fmt: skip
    """The writes, and then the status; `digests` are those of the phases where they were never noted."""
    status: Manifest = {**revision.status, "conditions": with_conditions(revision, found.conditions, now)}
    if digests and not revision.digests:
        status["observedPhases"] = [{"name": name, "digest": digest} for name, digest in digests.items()]
    ref, progressing = Ref.of(revision), found.conditions[0]
    writes_of_status = () if status == revision.status else (SetStatus(ref, status, revision.resource_version),)
    again = None if found.again is None else max(found.again, timedelta(seconds=1))
    what = progressing.message
    is_settled = progressing.reason in ("Succeeded", "Archived")
    wait = None if is_settled else Wait(what, next_try=None if again is None else now + again)
    return Outcome((*writes, *writes_of_status), again_in=again, summary=what.partition("\n")[0], wait=wait)


def contested(revision: ClusterObjectSet, tasks: Sequence[Task]) -> tuple[Write, ...]:
    """An Event about objects whose fields somebody takes back again and again."""
    if not tasks:
        return ()
    named = ", ".join(described(one.desired) for one in tasks[:_NAMED])
    why = f"others set fields of the revision again and again, and they are put back every {TRUCE.seconds} s: {named}"
    return (Record(Ref.of(revision), "Warning", "Contested", why),)
