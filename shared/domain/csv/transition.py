"""The decision about a ClusterServiceVersion, before it becomes writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from shared.api.manifest import Manifest
from shared.domain.csv.phases import Status
from shared.kinds import Ref


@dataclass(frozen=True, slots=True)
class Transition:
    """The new status of a version, and what else follows from the decision."""

    status: Status
    sentence: str
    """What was decided and why, for the journal."""
    enqueues: tuple[Ref, ...] = ()
    """The ClusterServiceVersions to wake."""
    waits_for: str = ""
    """What the version waits for; empty when it does not wait."""
    again_in: timedelta | None = None
    patch: Manifest = field(default_factory=dict)
    """Merge patch of its metadata; the status is then written by the run that the patch enqueues."""
