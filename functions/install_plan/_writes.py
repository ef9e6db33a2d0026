"""What a pass over an InstallPlan writes."""

from __future__ import annotations

from collections.abc import Iterator

from shared.api.manifest import Manifest
from shared.api.views import InstallPlan
from shared.domain.conditions import Condition
from shared.domain.plan.execution import Action, warned
from shared.kinds import Ref
from shared.reading.plan_pass import Progress
from shared.step import Create, Merge, Record, Replace, SetStatus, Write, acting_as


def progress_writes(plan: InstallPlan, progress: Progress, status: Manifest, account: Ref | None) -> Iterator[Write]:
    """The objects of the steps with the rights of the account, what people are told, and the status, last."""
    for action in progress.actions:
        yield from _action(plan, action, account)
    yield from (Record(Ref.of(plan), "Warning", "CRDValidation", warning) for warning in progress.warnings)
    yield from unsafe_record(plan, progress.safety)
    yield from status_write(plan, status)


def _action(plan: InstallPlan, action: Action, account: Ref | None) -> tuple[Write, ...]:
    sentence, path = warned(plan.steps[action.index]), f"status.plan[{action.index}]"
    note = Record(Ref.of(plan), "Warning", "AppliedWithWarnings", sentence, path)
    created = () if action.create is None else (Create(action.create, note, must_be_new=True),)
    replaced = () if action.replace is None else (Replace(action.replace, note),)
    patched = () if action.patch is None else (Merge(*action.patch),)
    return acting_as(None if action.is_ours else account, (*created, *replaced, *patched))


def unsafe_record(plan: InstallPlan, safety: Condition | None) -> tuple[Record, ...]:
    """The Event about a plan that would lose what is stored, once for each sentence about it."""
    if safety is None or safety.status != "False" or plan.condition(safety.type).message == safety.message:
        return ()
    return (Record(Ref.of(plan), "Warning", safety.reason, safety.message),)


def status_write(plan: InstallPlan, status: Manifest) -> tuple[Write, ...]:
    """The status, if it changes."""
    return () if status == plan.status else (SetStatus(Ref.of(plan), status, plan.resource_version),)
