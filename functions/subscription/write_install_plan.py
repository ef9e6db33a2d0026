"""Write the InstallPlan of each component whose bundles are unpacked.

Reads:  what `resolve_subscriptions` reads; the unpacked bundles; the InstallPlans of the Namespace.
Writes: InstallPlans with their steps, labels of older ones; the status of Subscriptions about their plan and version.
Emits:  `io.olmf.plan.waiting` for a plan that waits for approval.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta

from shared import kinds, names
from shared.api.manifest import Manifest
from shared.api.views import InstallPlan, Subscription
from shared.domain.plan import compose
from shared.domain.plan.compose import Draft
from shared.domain.resolver.resolve import resolve
from shared.domain.subscription import components
from shared.ports import Attempt, Catalogs, Clock, Cluster, Policy
from shared.reading.drafts import drafts
from shared.reading.namespace import read_namespace
from shared.step import NOTHING, Create, Emit, Merge, Outcome, Ref, SetStatus, Statement, Wait, Write

_RETRY = timedelta(seconds=30)


def write_install_plan(
    ref: Ref, cluster: Cluster, catalogs: Catalogs, attempt: Attempt, clock: Clock, policy: Policy
) -> Outcome:
    """Write the InstallPlans of one namespace that are due (key: the Namespace)."""
    snapshot = read_namespace(cluster, catalogs, ref.name, policy)
    ready = list(drafts(resolve(snapshot.inputs).components, snapshot.subscriptions, snapshot.groups, cluster))
    if not ready:
        return NOTHING
    now, plans = clock.now(), InstallPlan.each(cluster.list(kinds.INSTALL_PLAN, ref.name))
    writes: list[Write] = []
    emits: list[Emit] = []
    wait: Wait | None = None
    statements: list[Statement] = []
    for draft, plan in compose.numbered(ready, snapshot.subscriptions, plans):
        name = plan.name if plan else draft.name
        if (refusal := attempt.failure) and refusal.ref == kinds.INSTALL_PLAN.ref(name, ref.name):
            # Only the Subscriptions of this plan report that the server refused it; the other plans go on.
            writes += _status_writes(compose.refused(draft, refusal.message, now))
            statements.append(compose.statement(draft, name, refusal.message))
            wait = Wait(statements[-1].message, about=statements[-1].about)
            continue
        statements.append(compose.statement(draft, name))
        writes += _plan_writes(draft, plan)
        writes += _status_writes(compose.followed(draft, plan, now))
        writes += _label_removals(draft, (one for one in plans if one.name != name))
        emits += [Emit(names.PLAN_WAITING, kinds.INSTALL_PLAN.ref(name, ref.name))] if draft.is_manual else []
    summary = f"planned {', '.join(csv for draft in ready for csv in draft.csvs)}"
    return Outcome(tuple(writes), tuple(emits), _RETRY if wait else None, summary, wait, tuple(statements))


def _plan_writes(draft: Draft, plan: InstallPlan | None) -> Iterator[Write]:
    """The plan and its status; a plan that a killed run left without status gets its status now."""
    if not plan:
        yield Create(compose.manifest(draft), must_be_new=True)
    if not plan or plan.is_empty:
        name = plan.name if plan else draft.name
        yield SetStatus(
            kinds.INSTALL_PLAN.ref(name, draft.namespace), compose.status(draft), plan.resource_version if plan else ""
        )


def _label_removals(draft: Draft, older: Iterable[InstallPlan]) -> Iterator[Write]:
    """Remove the component label from the older plans of the operator."""
    for one in older:
        if patch := components.left(one, draft.components):
            yield Merge(kinds.INSTALL_PLAN.ref(one.name, one.namespace), patch)


def _status_writes(statuses: Iterable[tuple[Subscription, Manifest]]) -> Iterator[Write]:
    for subscription, status in statuses:
        ref = kinds.SUBSCRIPTION.ref(subscription.name, subscription.namespace)
        yield SetStatus(ref, status, subscription.resource_version)
