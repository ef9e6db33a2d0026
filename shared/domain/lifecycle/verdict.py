"""What was decided about a ClusterServiceVersion, before it becomes writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from shared.api.manifest import Manifest
from shared.domain.lifecycle.phases import Status
from shared.kinds import Ref


@dataclass(frozen=True, slots=True)
class Verdict:
    """The status it gets, and what else follows."""

    status: Status
    sentence: str
    """What was decided and why, for people."""
    rings: tuple[Ref, ...] = ()
    """ClusterServiceVersions that this concerns."""
    waits_for: str = ""
    """What it waits for; empty when it goes on by itself."""
    again_in: timedelta | None = None
    patch: Manifest = field(default_factory=dict)
    """Merge patch of its metadata; whoever patches leaves the status to the run that the patch rings."""
