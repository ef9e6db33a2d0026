"""What a revision consists of, if it can be had and is what it was (v1.md §21.6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from shared.api.views import ClusterObjectSet
from shared.domain.extension.phases import rollout, validation
from shared.domain.extension.phases.digest import difference, phase_digest
from shared.domain.extension.phases.order import Phase
from shared.domain.extension.phases.packing import Unreadable
from shared.domain.extension.phases.rollout import RolloutStatus
from shared.domain.extension.phases.sources import Secrets, mutable, resolved


@dataclass(frozen=True, slots=True)
class Content:
    """The objects of a revision, and the digest of each phase."""

    phases: tuple[Phase, ...]
    digests: Mapping[str, str]


def content_of(revision: ClusterObjectSet, secrets: Secrets, now: datetime) -> Content | RolloutStatus:
    """The content, or what the revision has to say instead of being rolled out."""
    if wrong := mutable(revision.raw, secrets):
        return rollout.blocked(wrong)
    try:
        phases = resolved(revision.raw, secrets)
    except Unreadable as error:
        return rollout.retrying(revision.raw, str(error), now, again=rollout.SOON)
    digests = {phase.name: phase_digest(phase) for phase in phases}
    if revision.digests and (changed := difference(revision.digests, digests)):
        return rollout.blocked(changed)
    if problems := validation.problems(phases):
        return rollout.rolled_out(revision.raw, (), now, problem=", ".join(problems))
    return Content(phases, digests)
