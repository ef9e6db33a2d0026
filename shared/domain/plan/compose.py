"""Builds the InstallPlan of one component: object, status and name (catalog.md §3.7 G, §4.2)."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from shared import kinds, names
from shared.api.manifest import (
    Manifest,
    metadata,
)
from shared.api.views import InstallPlan, Subscription
from shared.domain.authors import author
from shared.domain.bundle.hash import bundle_hash
from shared.domain.bundle.model import UnpackedBundle
from shared.domain.conditions import Condition
from shared.domain.objects import plan_record
from shared.domain.objects.ownership import reference_to
from shared.domain.plan import dependencies
from shared.domain.plan.steps import steps
from shared.domain.resolver.model import Chosen
from shared.domain.resolver.properties import annotation
from shared.domain.statement import Code, Statement
from shared.domain.subscription import components, plans, state
from shared.domain.subscription.conditions import BUNDLE_UNPACK_FAILED, BUNDLE_UNPACKING, changed
from shared.domain.unpack.references import Reference
from shared.domain.unpack.report import CONDITIONS

_NAME_LENGTH = 8
_REFUSED = "EnsureInstallPlanFailed"


@dataclass(frozen=True, slots=True)
class Draft:
    """The input of an InstallPlan."""

    subscriptions: Sequence[Subscription]
    """The Subscriptions that own the plan."""
    bundles: Sequence[tuple[Chosen, UnpackedBundle]]
    is_manual: bool
    generation: int
    is_author_bound: bool = False
    """Its namespace limits plans to what the authors of their Subscriptions may."""
    avoided: tuple[str, ...] = ()
    """The uids of objects that others made under the names that the plan would have had."""

    @property
    def namespace(self) -> str:
        """The namespace of the plan."""
        return self.subscriptions[0].namespace

    @property
    def csvs(self) -> list[str]:
        """The names of the ClusterServiceVersions that the plan installs, each once."""
        return list(dict.fromkeys(chosen.bundle.name for chosen, _ in self.bundles))

    @property
    def components(self) -> dict[str, str]:
        """The component labels of the operators that the plan installs."""
        return components.labels((chosen.package for chosen, _ in self.bundles), self.namespace)

    @property
    def planned_for(self) -> str:
        """Whose authors bind the plan; empty where nobody's do."""
        return author.planned_for(self.subscriptions) if self.is_author_bound else ""

    @property
    def known(self) -> int:
        """The highest generation in the status of its owners."""
        return max(one.plan_generation for one in self.subscriptions)

    @property
    def name(self) -> str:
        """The name, derived from the content: a repeated run creates no second plan; other plans do not affect it."""
        owners = sorted(one.uid or one.name for one in self.subscriptions)
        images = [chosen.path for chosen, _ in self.bundles]
        content = json.dumps([self.namespace, self.known, owners, self.csvs, images, *self.avoided])
        digest = base64.b32encode(hashlib.sha256(content.encode()).digest()).decode().lower()
        return f"install-{digest[:_NAME_LENGTH]}"


def manifest(draft: Draft) -> Manifest:
    """The InstallPlan, without status."""
    owners = [reference_to(kinds.SUBSCRIPTION, one.name, one.uid) for one in draft.subscriptions]
    spec = _spec(draft)
    bound = {names.PLANNED_FOR: draft.planned_for} if draft.is_author_bound else {}
    return {
        "apiVersion": kinds.INSTALL_PLAN.api_version,
        "kind": kinds.INSTALL_PLAN.kind,
        "metadata": {
            "name": draft.name,
            "namespace": draft.namespace,
            "labels": draft.components,
            "annotations": {names.PLAN_CONTENT: plan_record.of_plan(spec, _content(draft), draft.planned_for), **bound},
            "ownerReferences": owners,
        },
        "spec": spec,
    }


def status(draft: Draft) -> Manifest:
    """The first status of the plan: all steps, still `Unknown`; a dependency also gets a step for its Subscription."""
    content = _content(draft)
    return {
        "phase": "RequiresApproval" if draft.is_manual else "Installing",
        "catalogSources": sorted({chosen.catalog.key.name for chosen, _ in draft.bundles}),
        **content,
        "conditions": [plan_record.condition(plan_record.of_plan(_spec(draft), content, draft.planned_for))],
    }


def _spec(draft: Draft) -> Manifest:
    return {
        "clusterServiceVersionNames": draft.csvs,
        "approval": "Manual" if draft.is_manual else "Automatic",
        "approved": not draft.is_manual,
        "generation": draft.generation,
    }


def _content(draft: Draft) -> Manifest:
    """The steps and the bundles."""
    described = [(bundle, reference(chosen, bundle)) for chosen, bundle in draft.bundles]
    return {
        "plan": [
            *dependencies.steps((chosen for chosen, _ in draft.bundles), draft.namespace),
            *(step for bundle, described_by in described for step in steps(bundle, draft.namespace, described_by)),
        ],
        "bundleLookups": [_lookup(chosen) for chosen, _ in draft.bundles],
    }


def reference(chosen: Chosen, bundle: UnpackedBundle) -> Reference:
    """The reference to the unpacked objects of a chosen bundle."""
    key, name = chosen.catalog.key, bundle_hash(chosen.path)
    properties = annotation(chosen.bundle, chosen.package)
    return Reference(name, key.namespace, key, chosen.replaces, properties, plan_record.of_bundle(bundle))


def numbered(
    drafts: Iterable[Draft], subscriptions: Iterable[Subscription], plans_there: Sequence[InstallPlan]
) -> Iterator[tuple[Draft, InstallPlan | None]]:
    """Each draft with its generation, and the plan that an interrupted run left for it; refused drafts come last."""
    generation, there = next_generation(subscriptions, plans_there), {one.name: one for one in plans_there}
    for number, draft in enumerate(sorted(drafts, key=_was_refused)):
        yield _placed(replace(draft, generation=generation + number), there)


def _was_refused(draft: Draft) -> bool:
    return any(one.condition(BUNDLE_UNPACK_FAILED).reason == _REFUSED for one in draft.subscriptions)


def next_generation(subscriptions: Iterable[Subscription], plans: Iterable[InstallPlan]) -> int:
    """One more than the highest generation in the namespace."""
    return max((*(one.plan_generation for one in subscriptions), *(plan.number for plan in plans)), default=0) + 1


def _placed(draft: Draft, there: Mapping[str, InstallPlan]) -> tuple[Draft, InstallPlan | None]:
    """The draft under a name that nobody else took, and the plan of that name if an interrupted run wrote it.

    Who may only create plans can guess the first name, but not the uid from which the next one follows.
    """
    while (plan := there.get(draft.name)) is not None:
        written = replace(draft, generation=plan.number)
        if written.generation > draft.known and _is_ours(plan, written):
            return written, plan
        draft = replace(draft, avoided=(*draft.avoided, plan.uid))
    return draft, None


def _is_ours(plan: InstallPlan, draft: Draft) -> bool:
    """Whether the plan is what we would write; one without status also has to be as approved as that.

    Labels and annotations that others add, as admission webhooks do, say nothing of what it does.
    """
    ours = manifest(draft)
    desired = metadata(ours)
    if plan.is_deleted:
        return False
    if not plan.is_empty:
        return plan_record.is_intact(plan) and plan_record.noted(plan) == plan_record.noted(InstallPlan(ours))
    return (
        plan.spec == ours["spec"]
        and desired["annotations"].items() <= plan.annotations.items()
        and desired["labels"].items() <= plan.labels.items()
        and {one.uid for one in plan.owners} == {one["uid"] for one in desired["ownerReferences"]}
        and not plan.finalizers
    )


def subscribed(draft: Draft, subscription: Subscription) -> str:
    """The name of the version that the plan installs for a Subscription; empty without one."""
    mine = (chosen.bundle.name for chosen, _ in draft.bundles if subscription.name in chosen.subscribers)
    return next(mine, "")


def statement(draft: Draft, name: str, refusal: str = "") -> Statement:
    """What became of the plan, which ties its versions and its Subscriptions together."""
    namespace = draft.namespace
    about = (
        kinds.INSTALL_PLAN.ref(name, namespace),
        *filter(None, (kinds.CLUSTER_SERVICE_VERSION.ref_or_none(csv, namespace) for csv in draft.csvs)),
        *(kinds.SUBSCRIPTION.ref(one.name, namespace) for one in draft.subscriptions),
    )
    planned = ", ".join(draft.csvs)
    if refusal:
        return Statement(about, Code.PLAN_REFUSED, f"{planned}: {refusal}")
    return Statement(about, Code.PLANNED, f"planned {planned}")


def followed(draft: Draft, plan: InstallPlan | None, now: datetime) -> Iterator[tuple[Subscription, Manifest]]:
    """The Subscriptions for which the plan installs a version, each with its new status."""
    name = plan.name if plan else draft.name
    fields = {"installPlanGeneration": draft.generation, **plans.references(name, draft.namespace, plan)}
    for one in draft.subscriptions:
        csv, status = subscribed(draft, one), one.status
        new = changed(status, now, drop=CONDITIONS, state=state.PENDING, currentCSV=csv, **fields)
        if csv and new is not None:
            yield one, new


def refused(draft: Draft, message: str, now: datetime) -> Iterator[tuple[Subscription, Manifest]]:
    """The Subscriptions whose plan the server refused, each with the new status that reports it."""
    text = f"error ensuring InstallPlan: {message}"
    failed = Condition(BUNDLE_UNPACK_FAILED, "True", _REFUSED, text)
    for one in draft.subscriptions:
        new = changed(one.status, now, put=[failed], drop=[BUNDLE_UNPACKING])
        if new is not None:
            yield one, new


def _lookup(chosen: Chosen) -> Manifest:
    key = chosen.catalog.key
    return {
        "path": chosen.path,
        "identifier": chosen.bundle.name,
        "replaces": chosen.replaces,
        "catalogSourceRef": {"namespace": key.namespace, "name": key.name},
        "properties": annotation(chosen.bundle, chosen.package),
    }
