"""Execute an InstallPlan: its steps in order, up to the first one that cannot continue.

Reads:  the plan; OperatorGroups and versions of its namespace; the ServiceAccount that its group names; unpacked
        bundles; definitions that change, and what is stored in them, also of a plan that waits for approval. With the
        rights of that account, if any: the objects to change, pull secrets, what is stored in definitions of others.
        Where a group asks for authors: Subscriptions, the policy about them, roles that are bound, what authors may.
        Of a plan that names its approver: the policy about approvals.
Writes: the objects of its steps, with the same rights; definitions that are new, or of this namespace alone, with ours;
        its status, last.
Emits:  when it ends what `end_of` names; `io.olmf.bundle.lost` when a bundle was deleted.
"""

from __future__ import annotations

from functions.install_plan._end import end_of
from functions.install_plan._writes import progress_writes, status_write, unsafe_record
from shared import kinds, names
from shared.api.views import InstallPlan, OperatorGroup
from shared.domain.objects import plan_record
from shared.domain.plan import state
from shared.errors import RetryLater
from shared.ports import Accounts, Attempt, Clock, Cluster, Discovery, Policy
from shared.reading.acting import ActingReads
from shared.reading.approvals import approver_of
from shared.reading.authors import actor_of
from shared.reading.plan_objects import Sources
from shared.reading.plan_pass import advance, looked_ahead
from shared.step import NOTHING, Emit, Outcome, Record, Ref, Wait


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
    actor, bound = actor_of(plan, groups, cluster, accounts)
    approver = approver_of(plan, actor, accounts)
    gate = state.gate(plan, actor, approver, now, trusts_others=policy.execute_foreign_plans)
    match gate:
        case state.Blocked(message, status):
            wait = Wait(message, next_try=now + state.RETRY)
            raise RetryLater(f"{ref}: {message}", after=state.RETRY, writes=status_write(plan, status), wait=wait)
        case state.Refused(message, status):
            writes = status_write(plan, status)
            return Outcome((*writes, Record(ref, "Warning", "PlanRefused", message)) if writes else (), summary=message)
    sources = Sources(cluster, ActingReads(cluster, accounts, gate.account), discovery, policy, attempt, bound)
    if isinstance(gate, state.Waiting):
        safety = looked_ahead(plan, sources)
        waiting = state.foreseen(gate, safety, now)
        writes = (*unsafe_record(plan, safety), *status_write(plan, waiting.status))
        wait = Wait(waiting.message, waiting.since)
        return Outcome(writes, again_in=waiting.again_in, summary=waiting.message, wait=wait)
    progress = advance(plan, sources)
    status = state.judged(state.progressed(gate.status, progress.statuses, now), progress.safety, now)
    status = state.after(status, progress.error, now, retry=None if progress.is_curable else policy.plan_retry)
    done = (
        f"{len(progress.actions)} steps carried out, phase {status['phase']}{plan_record.approval_note(plan, approver)}"
    )
    lost = (Emit(names.BUNDLE_LOST, ref),) if progress.is_bundle_lost else ()
    return Outcome(
        tuple(progress_writes(plan, progress, status, gate.account)),
        lost if status["phase"] == "Installing" else end_of(plan, status, groups),
        again_in=state.next_check(status, now, is_denied=progress.is_denied, has_authors=bound is not None),
        summary=progress.error or done,
    )
