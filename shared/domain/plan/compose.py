"""Builds the InstallPlan of one component: object, status and name (catalog.md §3.7 G, §4.2)."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from shared import kinds
from shared.api.manifest import Manifest, ReadOnly, metadata, name_of, namespace_of, uid_of
from shared.domain.bundle.hash import bundle_hash
from shared.domain.bundle.model import UnpackedBundle
from shared.domain.conditions import Condition, find
from shared.domain.lifecycle.ownership import reference_to
from shared.domain.plan import dependencies
from shared.domain.plan.references import Reference
from shared.domain.plan.state import planned_csvs
from shared.domain.plan.steps import steps
from shared.domain.resolver.model import Chosen
from shared.domain.resolver.properties import annotation
from shared.domain.subscription import components, plans, state
from shared.domain.subscription.conditions import BUNDLE_UNPACK_FAILED, BUNDLE_UNPACKING, changed
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
        return {components.label(chosen.package, self.namespace): "" for chosen, _ in self.bundles}

    @property
    def known(self) -> int:
        """The highest generation in the status of its owners."""
        return max((one.get("status") or {}).get("installPlanGeneration") or 0 for one in self.subscriptions)

    @property
    def name(self) -> str:
        """The name, derived from the content: a repeated run creates no second plan; other plans do not affect it."""
        owners = sorted(uid_of(one) or name_of(one) for one in self.subscriptions)
        images = [chosen.bundle.image for chosen, _ in self.bundles]
        content = json.dumps([self.namespace, self.known, owners, self.csvs, images])
        digest = base64.b32encode(hashlib.sha256(content.encode()).digest()).decode().lower()
        return f"install-{digest[:_NAME_LENGTH]}"


def manifest(draft: Draft) -> Manifest:
    """The InstallPlan, without status."""
    owners = [reference_to(kinds.SUBSCRIPTION, name_of(one), uid_of(one)) for one in draft.subscriptions]
    return {
        "apiVersion": kinds.INSTALL_PLAN.api_version,
        "kind": kinds.INSTALL_PLAN.kind,
        "metadata": {
            "name": draft.name,
            "namespace": draft.namespace,
            "labels": draft.components,
            "ownerReferences": owners,
        },
        "spec": {
            "clusterServiceVersionNames": draft.csvs,
            "approval": "Manual" if draft.is_manual else "Automatic",
            "approved": not draft.is_manual,
            "generation": draft.generation,
        },
    }


def status(draft: Draft) -> Manifest:
    """The first status of the plan: all steps, still `Unknown`; a dependency also gets a step for its Subscription."""
    return {
        "phase": "RequiresApproval" if draft.is_manual else "Installing",
        "catalogSources": sorted({chosen.catalog.key.name for chosen, _ in draft.bundles}),
        "plan": [
            *dependencies.steps((chosen for chosen, _ in draft.bundles), draft.namespace),
            *(step for chosen, bundle in draft.bundles for step in steps(bundle, draft.namespace, reference(chosen))),
        ],
        "bundleLookups": [_lookup(chosen) for chosen, _ in draft.bundles],
    }


def reference(chosen: Chosen) -> Reference:
    """The reference to the unpacked objects of a chosen bundle."""
    key = chosen.catalog.key
    properties = annotation(chosen.bundle, chosen.package)
    return Reference(bundle_hash(chosen.bundle.image), key.namespace, key, chosen.replaces, properties)


def numbered(
    drafts: Iterable[Draft], subscriptions: Iterable[ReadOnly], plans_there: Sequence[ReadOnly]
) -> Iterator[tuple[Draft, ReadOnly | None]]:
    """Each draft with its generation, and the plan that an interrupted run left for it; refused drafts come last."""
    generation = next_generation(subscriptions, plans_there)
    for number, draft in enumerate(sorted(drafts, key=_was_refused)):
        plan = unfinished(draft, plans_there)
        yield replace(draft, generation=plan["spec"]["generation"] if plan else generation + number), plan


def _was_refused(draft: Draft) -> bool:
    told = (find(one.get("status") or {}, BUNDLE_UNPACK_FAILED) or {} for one in draft.subscriptions)
    return any(one.get("reason") == _REFUSED for one in told)


def next_generation(subscriptions: Iterable[ReadOnly], plans: Iterable[ReadOnly]) -> int:
    """One more than the highest generation in the namespace."""
    used = [(one.get("status") or {}).get("installPlanGeneration") or 0 for one in subscriptions]
    used += [(one.get("spec") or {}).get("generation") or 0 for one in plans]
    return max(used, default=0) + 1


def unfinished(draft: Draft, plans: Iterable[ReadOnly]) -> ReadOnly | None:
    """A plan with the same content that an interrupted run left: its generation is newer than its owners know."""
    owners = {uid_of(one) for one in draft.subscriptions}
    for plan in plans:
        spec: Mapping[str, object] = plan.get("spec") or {}
        is_new = int(str(spec.get("generation") or 0)) > draft.known
        is_ours = {one.get("uid") for one in metadata(plan).get("ownerReferences") or ()} == owners
        if is_new and is_ours and list(planned_csvs(plan)) == draft.csvs:
            return plan
    return None


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
