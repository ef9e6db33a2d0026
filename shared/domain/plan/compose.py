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
    ReadOnly,
    annotations_of,
    is_deleted,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    uid_of,
)
from shared.domain.bundle.hash import bundle_hash
from shared.domain.bundle.model import UnpackedBundle
from shared.domain.conditions import Condition, find
from shared.domain.objects import plan_record
from shared.domain.objects.install_plan import generation_of, is_empty, whole_number
from shared.domain.objects.ownership import reference_to
from shared.domain.plan import dependencies
from shared.domain.plan.steps import steps
from shared.domain.resolver.model import Chosen
from shared.domain.resolver.properties import annotation
from shared.domain.subscription import components, plans, state
from shared.domain.subscription.conditions import BUNDLE_UNPACK_FAILED, BUNDLE_UNPACKING, changed
from shared.domain.unpack.references import Reference
from shared.domain.unpack.report import CONDITIONS

_NAME_LENGTH = 8
_REFUSED = "EnsureInstallPlanFailed"


@dataclass(frozen=True, slots=True)
class Draft:
    """The input of an InstallPlan."""

    subscriptions: Sequence[ReadOnly]
    """The Subscriptions that own the plan."""
    bundles: Sequence[tuple[Chosen, UnpackedBundle]]
    is_manual: bool
    generation: int
    avoided: tuple[str, ...] = ()
    """The uids of objects that others made under the names that the plan would have had."""

    @property
    def namespace(self) -> str:
        """The namespace of the plan."""
        return namespace_of(self.subscriptions[0])

    @property
    def csvs(self) -> list[str]:
        """The names of the ClusterServiceVersions that the plan installs, each once."""
        return list(dict.fromkeys(chosen.bundle.name for chosen, _ in self.bundles))

    @property
    def components(self) -> dict[str, str]:
        """The component labels of the operators that the plan installs."""
        return components.labels((chosen.package for chosen, _ in self.bundles), self.namespace)

    @property
    def known(self) -> int:
        """The highest generation in the status of its owners."""
        return max(_known_generation(one) for one in self.subscriptions)

    @property
    def name(self) -> str:
        """The name, derived from the content: a repeated run creates no second plan; other plans do not affect it."""
        owners = sorted(uid_of(one) or name_of(one) for one in self.subscriptions)
        images = [chosen.bundle.image for chosen, _ in self.bundles]
        content = json.dumps([self.namespace, self.known, owners, self.csvs, images, *self.avoided])
        digest = base64.b32encode(hashlib.sha256(content.encode()).digest()).decode().lower()
        return f"install-{digest[:_NAME_LENGTH]}"


def manifest(draft: Draft) -> Manifest:
    """The InstallPlan, without status."""
    owners = [reference_to(kinds.SUBSCRIPTION, name_of(one), uid_of(one)) for one in draft.subscriptions]
    spec = _spec(draft)
    return {
        "apiVersion": kinds.INSTALL_PLAN.api_version,
        "kind": kinds.INSTALL_PLAN.kind,
        "metadata": {
            "name": draft.name,
            "namespace": draft.namespace,
            "labels": draft.components,
            "annotations": {names.PLAN_CONTENT: plan_record.of_plan(spec, _content(draft))},
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
        "conditions": [plan_record.condition(plan_record.of_plan(_spec(draft), content))],
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
    key, name = chosen.catalog.key, bundle_hash(chosen.bundle.image)
    properties = annotation(chosen.bundle, chosen.package)
    return Reference(name, key.namespace, key, chosen.replaces, properties, plan_record.of_bundle(bundle))


def numbered(
    drafts: Iterable[Draft], subscriptions: Iterable[ReadOnly], plans_there: Sequence[ReadOnly]
) -> Iterator[tuple[Draft, ReadOnly | None]]:
    """Each draft with its generation, and the plan that an interrupted run left for it; refused drafts come last."""
    generation, there = next_generation(subscriptions, plans_there), {name_of(one): one for one in plans_there}
    for number, draft in enumerate(sorted(drafts, key=_was_refused)):
        yield _placed(replace(draft, generation=generation + number), there)


def _was_refused(draft: Draft) -> bool:
    told = (find(one.get("status") or {}, BUNDLE_UNPACK_FAILED) or {} for one in draft.subscriptions)
    return any(one.get("reason") == _REFUSED for one in told)


def next_generation(subscriptions: Iterable[ReadOnly], plans: Iterable[ReadOnly]) -> int:
    """One more than the highest generation in the namespace."""
    return max((*map(_known_generation, subscriptions), *map(generation_of, plans)), default=0) + 1


def _placed(draft: Draft, there: Mapping[str, ReadOnly]) -> tuple[Draft, ReadOnly | None]:
    """The draft under a name that nobody else took, and the plan of that name if an interrupted run wrote it.

    Who may only create plans can guess the first name, but not the uid from which the next one follows.
    """
    while (plan := there.get(draft.name)) is not None:
        written = replace(draft, generation=generation_of(plan))
        if written.generation > draft.known and _is_ours(plan, written):
            return written, plan
        draft = replace(draft, avoided=(*draft.avoided, uid_of(plan)))
    return draft, None


def _is_ours(plan: ReadOnly, draft: Draft) -> bool:
    """Whether the plan is what we would write; one without status also has to be as approved as that.

    Labels and annotations that others add, as admission webhooks do, say nothing of what it does.
    """
    ours = manifest(draft)
    wanted, found = metadata(ours), metadata(plan)
    if is_deleted(plan):
        return False
    if not is_empty(plan):
        return plan_record.is_intact(plan) and plan_record.noted(plan) == plan_record.noted(ours)
    owners = {one.get("uid") for one in found.get("ownerReferences") or ()}
    return (
        plan.get("spec") == ours["spec"]
        and wanted["annotations"].items() <= annotations_of(plan).items()
        and wanted["labels"].items() <= labels_of(plan).items()
        and owners == {one.get("uid") for one in wanted["ownerReferences"]}
        and not found.get("finalizers")
    )


def _known_generation(subscription: ReadOnly) -> int:
    return whole_number((subscription.get("status") or {}).get("installPlanGeneration"))


def subscribed(draft: Draft, subscription: ReadOnly) -> str:
    """The name of the version that the plan installs for a Subscription; empty without one."""
    mine = (chosen.bundle.name for chosen, _ in draft.bundles if name_of(subscription) in chosen.subscribers)
    return next(mine, "")


def followed(draft: Draft, plan: ReadOnly | None, now: datetime) -> Iterator[tuple[ReadOnly, Manifest]]:
    """The Subscriptions for which the plan installs a version, each with its new status."""
    name = name_of(plan) if plan else draft.name
    fields = {"installPlanGeneration": draft.generation, **plans.references(name, draft.namespace, plan)}
    for one in draft.subscriptions:
        csv, status = subscribed(draft, one), one.get("status") or {}
        new = changed(status, now, drop=CONDITIONS, state=state.PENDING, currentCSV=csv, **fields)
        if csv and new is not None:
            yield one, new


def refused(draft: Draft, message: str, now: datetime) -> Iterator[tuple[ReadOnly, Manifest]]:
    """The Subscriptions whose plan the server refused, each with the new status that reports it."""
    told = f"error ensuring InstallPlan: {message}"
    failed = Condition(BUNDLE_UNPACK_FAILED, "True", _REFUSED, told)
    for one in draft.subscriptions:
        new = changed(one.get("status") or {}, now, put=[failed], drop=[BUNDLE_UNPACKING])
        if new is not None:
            yield one, new


def _lookup(chosen: Chosen) -> Manifest:
    key = chosen.catalog.key
    return {
        "path": chosen.bundle.image,
        "identifier": chosen.bundle.name,
        "replaces": chosen.replaces,
        "catalogSourceRef": {"namespace": key.namespace, "name": key.name},
        "properties": annotation(chosen.bundle, chosen.package),
    }
