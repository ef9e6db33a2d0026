"""Execute an InstallPlan: its steps in order, up to the first one that cannot continue.

Reads:  the plan; OperatorGroups and versions of its namespace; the ServiceAccount that its group names; unpacked
        bundles; definitions. With the rights of that account, if any: the objects to change, and pull secrets.
Writes: the objects of its steps, with the same rights; definitions that are new, or of this namespace alone, with ours;
        its status, last.
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
from shared.ports import Accounts, Attempt, Clock, Cluster, Discovery, Policy
from shared.reading.acting import ActingReads
from shared.reading.identity import identity_of
from shared.reading.plan_pass import Sources, advance
from shared.step import NOTHING, Create, Emit, Merge, Outcome, Record, Ref, Replace, SetStatus, Wait, Write, acting_as


def execute_install_plan(
    ref: Ref, cluster: Cluster, discovery: Discovery, attempt: Attempt,
    *, accounts: Accounts, clock: Clock, policy: Policy,
) -> Outcome:  # fmt: skip
    """Write the objects that the steps of a plan can write now, then the status of the plan."""
    plan = InstallPlan.of(cluster.get(ref))
    if plan is None or (state.is_finished(plan) and not state.is_unwritten(plan)):
        return NOTHING
    now = clock.now()
    groups = OperatorGroup.each(cluster.list(kinds.OPERATOR_GROUP, ref.namespace))
    actor = identity_of(groups, ref.namespace, cluster)
    match state.gate(plan, actor, now, trusts_others=policy.execute_foreign_plans):
        case state.Blocked(message, status):
            wait = Wait(message, now, now + state.RETRY)
            raise RetryLater(f"{ref}: {message}", after=state.RETRY, writes=_status(ref, plan, status), wait=wait)
        case state.Refused(message, status):
            writes = _status(ref, plan, status)
            return Outcome((*writes, Record(ref, "Warning", "PlanRefused", message)) if writes else (), summary=message)
        case state.Waiting(message, status, again_in):
            return Outcome(_status(ref, plan, status), again_in=again_in, summary=message, wait=Wait(message, now))
        case state.Going(status, account):
            pass
    reads = ActingReads(cluster, accounts, account)
    progress = advance(plan, Sources(cluster, reads, discovery, policy.global_namespace, attempt))
    retry = None if progress.is_curable else policy.plan_retry
    status = state.after(state.progressed(status, progress.statuses, now), progress.error, now, retry=retry)
    writes = (
        *(write for action in progress.actions for write in _writes(plan, action, account)),
        *(Record(ref, "Warning", "CRDValidation", warning) for warning in progress.warnings),
        *_status(ref, plan, status),
    )
    done = f"{len(progress.actions)} steps carried out, phase {status['phase']}{plan_record.approval_note(plan)}"
    lost = (Emit(names.BUNDLE_LOST, ref),) if progress.is_bundle_lost else ()
    emits = lost if status["phase"] == "Installing" else end_of(plan, status, groups)
    return Outcome(
        writes,
        emits,
        again_in=state.next_check(status, now, is_denied=progress.is_denied),
        summary=progress.error or done,
    )


def _writes(plan: InstallPlan, action: Action, account: Ref | None) -> tuple[Write, ...]:
    sentence, path = warned(plan.steps[action.index]), f"status.plan[{action.index}]"
    note = Record(Ref.of(plan), "Warning", "AppliedWithWarnings", sentence, path)
    created = () if action.create is None else (Create(action.create, note, must_be_new=True),)
    replaced = () if action.replace is None else (Replace(action.replace, note),)
    patched = () if action.patch is None else (Merge(*action.patch),)
    return acting_as(None if action.is_ours else account, (*created, *replaced, *patched))


def _status(ref: Ref, plan: InstallPlan, status: Manifest) -> tuple[Write, ...]:
    return () if status == plan.status else (SetStatus(ref, status, plan.resource_version),)
