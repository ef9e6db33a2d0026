"""What a ClusterObjectSet says about its rollout, and when to look again (v1.md §21.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from shared import names
from shared.api.manifest import ReadOnly, annotations_of
from shared.api.views import ClusterObjectSet, Object
from shared.domain.conditions import Condition
from shared.domain.extension.phases.actions import Action
from shared.domain.extension.phases.probes import Result
from shared.domain.extension.phases.quiet import quiet_left

PROGRESSING: Final = "Progressing"
AVAILABLE: Final = "Available"
SUCCEEDED: Final = "Succeeded"
SOON: Final = timedelta(seconds=10)
"""When a revision that was refused is tried again."""
TEARDOWN: Final = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class ObjectResult:
    """What was done with one object, and how it stands."""

    manifest: ReadOnly
    action: Action
    probe: Result
    report: str = ""
    """A collision in detail."""

    @property
    def is_complete(self) -> bool:
        """Whether it was applied and is ready."""
        return self.action is not Action.COLLISION and self.probe.status == "True"


@dataclass(frozen=True, slots=True)
class PhaseResult:
    """What became of one phase; a phase that was not reached has no objects."""

    objects: tuple[ObjectResult, ...] = ()
    problem: str = ""
    """Why it was refused before anything of it was applied."""
    is_reached: bool = True

    @property
    def is_complete(self) -> bool:
        """Whether every object of it is."""
        return self.is_reached and not self.problem and all(one.is_complete for one in self.objects)


@dataclass(frozen=True, slots=True)
class RolloutStatus:
    """The conditions to be set, and when to look again although nothing happened."""

    conditions: tuple[Condition, ...]
    again: timedelta | None = None


def until_deadline(revision: ReadOnly, now: datetime) -> timedelta | None:
    """What is left of the time for the rollout; None when there is no limit, or none any more."""
    one = ClusterObjectSet(revision)
    if not one.deadline or not one.created or one.has_succeeded or one.is_archived or one.is_deleted:
        return None
    return one.created + timedelta(minutes=one.deadline) - now


def until_detailed(revision: ReadOnly, now: datetime) -> timedelta | None:
    """How long a roll-out that has just begun does not say yet what it waits for; None when it says so."""
    one = ClusterObjectSet(revision)
    return None if one.has_succeeded else quiet_left(one.created, now)


def blocked(why: str) -> RolloutStatus:
    """Only an edit can help: not tried again."""
    return RolloutStatus((Condition(PROGRESSING, "False", "Blocked", why),))


def retrying(revision: ReadOnly, why: str, now: datetime, *, again: timedelta | None = None) -> RolloutStatus:
    """Something failed that may work later."""
    found = [_progressing(revision, "Retrying", why, now)]
    if ClusterObjectSet(revision).has_condition(AVAILABLE):
        found.append(Condition(AVAILABLE, "Unknown", "Reconciling", why))
    return RolloutStatus(tuple(found), again)


def archived(revision: ReadOnly, now: datetime, *, is_done: bool, terminating: str = "") -> RolloutStatus:
    """The objects of the revision are gone, or still on their way; `terminating`: those that wait for finalizers."""
    if not is_done:
        what = "removing revision resources that are not owned by another revision"
        return retrying(revision, f"{what}; still there: {terminating}" if terminating else what, now, again=TEARDOWN)
    message = "revision is archived"
    return RolloutStatus(
        (Condition(PROGRESSING, "False", "Archived", message), Condition(AVAILABLE, "Unknown", "Archived", message))
    )


def rolled_out(revision: ReadOnly, phases: Sequence[PhaseResult], now: datetime, *, problem: str = "") -> RolloutStatus:
    """What became of one attempt to apply all phases; `problem` is why the whole revision was refused."""
    if why := f"revision validation error: {problem}" if problem else _refusal(phases):
        return retrying(revision, why, now, again=SOON)
    version = annotations_of(revision).get(names.V1_BUNDLE_VERSION, "")
    if is_complete(phases):
        return RolloutStatus((
            Condition(PROGRESSING, "True", "Succeeded", f"Revision {version} has rolled out."),
            Condition(AVAILABLE, "True", "ProbesSucceeded", "Objects are available and pass all probes."),
            Condition(SUCCEEDED, "True", "Succeeded", "Revision succeeded rolling out."),
        ))  # fmt: skip
    rolling = f"Revision {version} is rolling out."
    quiet, left = until_detailed(revision, now), until_deadline(revision, now)
    failing = "" if quiet else "\n".join(filter(None, map(_first_failure, phases)))
    reason, why = ("ProbeFailure", failing) if failing else ("RollingOut", rolling)
    found = (_progressing(revision, "RollingOut", rolling, now), Condition(AVAILABLE, "False", reason, why))
    return RolloutStatus(found, min((one for one in (quiet, left) if one and one > timedelta()), default=None))


def sooner(found: RolloutStatus, again: timedelta | None) -> RolloutStatus:
    """The same, looked at again after that time, if not before."""
    if again is None:
        return found
    return replace(found, again=again if found.again is None else min(found.again, again))


def is_complete(phases: Sequence[PhaseResult]) -> bool:
    """Whether every phase is."""
    return all(phase.is_complete for phase in phases)


def _refusal(phases: Sequence[PhaseResult]) -> str:
    """The first phase that was refused, or that holds what belongs to others."""
    for number, phase in enumerate(phases):
        if phase.problem:
            return f"phase {number} validation error: {phase.problem}"
        reports = [one.report for one in phase.objects if one.action is Action.COLLISION]
        if reports:
            together = "\n\n".join(reports)
            return f"revision object collisions in phase {number}\n{together}"
    return ""


def _first_failure(phase: PhaseResult) -> str:
    for one in phase.objects:
        if one.probe.status != "True":
            found = Object(one.manifest)
            what = f"Object {found.kind}.{found.api_version} {found.namespace}/{found.name}"
            return f"{what}: {' and '.join(one.probe.messages)}"
    return ""


def _progressing(revision: ReadOnly, reason: str, message: str, now: datetime) -> Condition:
    left = until_deadline(revision, now)
    if left is None or left > timedelta():
        return Condition(PROGRESSING, "True", reason, message)
    late = f"Revision has not rolled out for {ClusterObjectSet(revision).deadline} minute(s). Last status: {message}"
    return Condition(PROGRESSING, "False", "ProgressDeadlineExceeded", late)
