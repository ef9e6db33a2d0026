"""Write the InstallPlan of each component whose bundles are unpacked.

Reads:  what `resolve_subscriptions` reads; the unpacked bundles; the InstallPlans of the Namespace.
Writes: InstallPlans with their steps, labels of older ones; the status of Subscriptions about their plan and version.
Emits:  `io.olmf.plan.waiting` for a plan that waits for approval.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from shared import kinds, names
from shared.api.manifest import Manifest, ReadOnly, name_of, namespace_of, version_of
from shared.domain.plan import compose
from shared.domain.plan.compose import Draft
from shared.domain.plan.drafts import drafts
from shared.domain.resolver.resolve import resolve
from shared.domain.resolver.scene import look
from shared.domain.resolver.shelves import IndexedShelf
from shared.domain.subscription import components
from shared.ports import Attempt, Catalogs, Clock, Cluster, ImageSource, Policy
from shared.step import NOTHING, Create, Emit, Merge, Outcome, Ref, SetStatus, Wait, Write

_RETRY = timedelta(seconds=30)


def write_install_plan(
    ref: Ref, cluster: Cluster, catalogs: Catalogs, attempt: Attempt, clock: Clock, policy: Policy
) -> Outcome:
    """Write the InstallPlans of one namespace that are due (key: the Namespace)."""
    scene = look(cluster, lambda at: IndexedShelf(catalogs, at.reference, ImageSource(*at.origin)), ref.name, policy)
    ready = list(drafts(resolve(scene.inputs).components, scene.subscriptions, cluster.get))
    if not ready:
        return NOTHING
    outcome = Outcome(verdict=f"planned {', '.join(csv for draft in ready for csv in draft.csvs)}")
    plans = cluster.list(kinds.INSTALL_PLAN, ref.name)
    for draft, plan in compose.numbered(ready, scene.subscriptions, plans):
        if (refusal := attempt.failure) and refusal.ref == kinds.INSTALL_PLAN.ref(draft.name, ref.name):
            outcome = _refused(outcome, draft, refusal.message, clock.now())
        else:
            outcome = _and(outcome, draft, plan, clock.now())
            outcome = replace(outcome, writes=(*outcome.writes, *_parted(draft, plan, plans)))
    return outcome


def _refused(outcome: Outcome, draft: Draft, message: str, now: datetime) -> Outcome:
    """The outcome without this plan, which the server refused: its Subscriptions report that, the others go on."""
    writes = (*outcome.writes, *_told(compose.refused(draft, message, now)))
    return replace(outcome, writes=writes, again_in=_RETRY, wait=Wait(f"{', '.join(draft.csvs)}: {message}", now))


def _and(outcome: Outcome, draft: Draft, plan: ReadOnly | None, now: datetime) -> Outcome:
    """The outcome with one more plan; a plan that a killed run left without status gets its status now."""
    ref = kinds.INSTALL_PLAN.ref(name_of(plan) if plan else draft.name, draft.namespace)
    writes: list[Write] = [] if plan else [Create(compose.manifest(draft))]
    if not plan or not plan.get("status"):
        writes.append(SetStatus(ref, compose.status(draft), version_of(plan or {})))
    writes += _told(compose.followed(draft, plan, now))
    waiting = (Emit(names.PLAN_WAITING, ref),) if draft.is_manual else ()
    return replace(outcome, writes=(*outcome.writes, *writes), emits=(*outcome.emits, *waiting))


def _parted(draft: Draft, plan: ReadOnly | None, plans: Iterable[ReadOnly]) -> Iterator[Write]:
    """Remove the component label from the older plans of the operator."""
    newest = name_of(plan) if plan else draft.name
    for one in plans:
        if name_of(one) != newest and (patch := components.left(one, draft.components)):
            yield Merge(kinds.INSTALL_PLAN.ref(name_of(one), namespace_of(one)), patch)


def _told(said: Iterable[tuple[ReadOnly, Manifest]]) -> Iterator[Write]:
    for one, status in said:
        yield SetStatus(kinds.SUBSCRIPTION.ref(name_of(one), namespace_of(one)), status, version_of(one))
