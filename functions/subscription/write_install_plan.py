"""Write the InstallPlan of each component whose bundles are unpacked."""

from __future__ import annotations

from dataclasses import replace

from shared import kinds, names
from shared.api.manifest import ReadOnly, name_of, version_of
from shared.domain.bundle.hash import bundle_hash
from shared.domain.bundle.model import UnpackedBundle
from shared.domain.plan import compose
from shared.domain.plan.compose import Draft
from shared.domain.resolver import Chosen, Component, resolve
from shared.domain.resolver.scene import Scene, look
from shared.domain.subscription import plans, state
from shared.domain.subscription.conditions import changed
from shared.domain.unpack.content import bundle_in
from shared.domain.unpack.report import CONDITIONS
from shared.ports import Catalogs, Clock, Cluster, ImageSource, Policy
from shared.step import NOTHING, Create, Emit, Outcome, Ref, SetStatus, Write


def write_install_plan(ref: Ref, cluster: Cluster, catalogs: Catalogs, clock: Clock, policy: Policy) -> Outcome:
    """Write the InstallPlan of each component whose bundles are unpacked.

    Reads:  what `resolve_subscriptions` reads; the unpacked bundles; the InstallPlans of the Namespace.
    Writes: InstallPlans with their steps; `installPlanRef`, `currentCSV` and `state` of Subscriptions.
    Emits:  `io.olmf.plan.waiting` for a plan that somebody has to approve.
    """
    scene = look(
        cluster, lambda at, name: catalogs.package(at.reference, name, ImageSource(*at.origin)), ref.name, policy
    )
    drafts = [draft for one in resolve(scene.inputs).components if (draft := _draft(one, scene, cluster)) is not None]
    if not drafts:
        return NOTHING
    written = cluster.list(kinds.INSTALL_PLAN, ref.name)
    generation = compose.next_generation(scene.subscriptions, written)
    outcome = Outcome(verdict=f"planned {', '.join(csv for draft in drafts for csv in draft.csvs)}")
    for number, draft in enumerate(drafts):
        plan = compose.unfinished(draft, written)
        new = replace(draft, generation=plan["spec"]["generation"] if plan else generation + number)
        outcome = _and(outcome, new, plan, clock)
    return outcome


def _draft(component: Component, scene: Scene, cluster: Cluster) -> Draft | None:
    """The plan of a component, its generation still open; None when a bundle is missing or nothing was chosen."""
    bundles: list[tuple[Chosen, UnpackedBundle]] = []
    for chosen in component.chosen:
        place = kinds.CONFIG_MAP.ref(bundle_hash(chosen.bundle.image), chosen.catalog.key.namespace)
        bundle = bundle_in(cluster.get(place) or {})
        if not isinstance(bundle, UnpackedBundle):
            return None
        bundles.append((chosen, bundle))
    owners = [one for one in scene.subscriptions if name_of(one) in component.subscribers]
    return Draft(owners, bundles, component.is_manual, 0) if bundles else None


def _and(outcome: Outcome, draft: Draft, plan: ReadOnly | None, clock: Clock) -> Outcome:
    """The outcome with one plan more; a plan that was left without status gets it now."""
    name = name_of(plan) if plan else draft.name
    ref = kinds.INSTALL_PLAN.ref(name, draft.namespace)
    writes: list[Write] = [] if plan else [Create(compose.manifest(draft))]
    if not plan or not plan.get("status"):
        writes.append(SetStatus(ref, compose.status(draft), version_of(plan or {})))
    for one in draft.subscriptions:
        fields = {"installPlanGeneration": draft.generation, **plans.references(name, draft.namespace, plan)}
        csv = compose.subscribed(draft, one)
        status = changed(
            one.get("status") or {}, clock.now(), drop=CONDITIONS, state=state.PENDING, currentCSV=csv, **fields
        )
        if csv and status is not None:
            writes.append(SetStatus(kinds.SUBSCRIPTION.ref(name_of(one), draft.namespace), status, version_of(one)))
    waiting = (Emit(names.PLAN_WAITING, ref),) if draft.is_manual else ()
    return replace(outcome, writes=(*outcome.writes, *writes), emits=(*outcome.emits, *waiting))
