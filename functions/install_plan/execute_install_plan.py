"""Execute an InstallPlan: its steps in order, up to the first one that cannot continue.

Reads:  the plan; OperatorGroups and versions of its namespace; unpacked bundles; the objects to change; pull secrets.
Writes: the objects of its steps; its status, last.
Emits:  when it ends what `end_of` names; `io.olmf.bundle.lost` when a bundle was deleted.
"""

from __future__ import annotations

from functions.install_plan._end import end_of
from shared import kinds, names
from shared.api.manifest import Manifest
from shared.api.views import InstallPlan, OperatorGroup
from shared.domain.objects import plan_record
from shared.domain.plan import state
from shared.domain.plan.execution import Action, warned
from shared.errors import RetryLater
from shared.ports import Attempt, Clock, Cluster, Discovery, Policy
from shared.reading.plan_pass import Progress, advance, statuses_of
from shared.step import NOTHING, Create, Emit, Outcome, Record, Ref, Replace, SetStatus, Wait, Write


def execute_install_plan(
    ref: Ref, cluster: Cluster, discovery: Discovery, attempt: Attempt, clock: Clock, policy: Policy
) -> Outcome:
    """Write the objects that the steps of a plan can write now, then the status of the plan."""
    plan = InstallPlan.of(cluster.get(ref))
    if plan is None or (state.is_finished(plan) and not state.is_unwritten(plan)):
        return NOTHING
    now = clock.now()
    groups = OperatorGroup.each(cluster.list(kinds.OPERATOR_GROUP, ref.namespace))
    match state.gate(plan, groups, now, trusts_others=policy.execute_foreign_plans):
        case state.Blocked(message, status):
            wait = Wait(message, now, now + state.RETRY)
            raise RetryLater(f"{ref}: {message}", after=state.RETRY, writes=_status(ref, plan, status), wait=wait)
        case state.Refused(message, status):
            writes = _status(ref, plan, status)
            return Outcome((*writes, Record(ref, "Warning", "PlanRefused", message)) if writes else (), summary=message)
        case state.Waiting(message, status, again_in):
            return Outcome(_status(ref, plan, status), again_in=again_in, summary=message, wait=Wait(message, now))
        case state.Going(status):
            pass
    progress = _refused(plan, attempt) or advance(plan, cluster, discovery, home=policy.global_namespace)
    retry = None if progress.is_curable else policy.plan_retry
    status = state.after(state.progressed(status, progress.statuses, now), progress.error, now, retry=retry)
    writes = (
        *(write for action in progress.actions for write in _writes(ref, plan, action)),
        *(Record(ref, "Warning", "CRDValidation", warning) for warning in progress.warnings),
        *_status(ref, plan, status),
    )
    done = f"{len(progress.actions)} steps carried out, phase {status['phase']}{plan_record.approval_note(plan)}"
    lost = (Emit(names.BUNDLE_LOST, ref),) if progress.is_bundle_lost else ()
    emits = lost if status["phase"] == "Installing" else end_of(plan, status, groups)
    return Outcome(writes, emits, again_in=state.next_check(status, now), summary=progress.error or done)


def _refused(plan: InstallPlan, attempt: Attempt) -> Progress | None:
    """No progress, because the server refused a write of the previous attempt; None after a conflict: read again."""
    if (failure := attempt.failure) is None or failure.kind == "conflict":
        return None
    error = f"{failure.ref.kind} {failure.ref.name}: {failure.message}"
    return Progress((), statuses_of(plan), error, is_curable=failure.kind == "forbidden")


def _writes(ref: Ref, plan: InstallPlan, action: Action) -> tuple[Write, ...]:
    sentence, path = warned(plan.steps[action.index]), f"status.plan[{action.index}]"
    note = Record(ref, "Warning", "AppliedWithWarnings", sentence, path)
    created = () if action.create is None else (Create(action.create, note, must_be_new=True),)
    return created if action.replace is None else (*created, Replace(action.replace, note))


def _status(ref: Ref, plan: InstallPlan, status: Manifest) -> tuple[Write, ...]:
    return () if status == plan.status else (SetStatus(ref, status, plan.resource_version),)
