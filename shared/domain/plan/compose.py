"""The InstallPlan of one component: object, status and name (catalog.md §3.7 G, §4.2)."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from shared import kinds
from shared.api.manifest import Manifest, ReadOnly, metadata, name_of, namespace_of, uid_of
from shared.domain.bundle.hash import bundle_hash
from shared.domain.bundle.model import UnpackedBundle
from shared.domain.plan.references import Reference
from shared.domain.plan.steps import steps
from shared.domain.resolver.model import Chosen
from shared.domain.resolver.properties import annotation

_NAME_LENGTH = 8


@dataclass(frozen=True, slots=True)
class Draft:
    """What a plan is made of."""

    subscriptions: Sequence[ReadOnly]
    """Those that own it."""
    bundles: Sequence[tuple[Chosen, UnpackedBundle]]
    is_manual: bool
    generation: int

    @property
    def namespace(self) -> str:
        """Where the plan is."""
        return namespace_of(self.subscriptions[0])

    @property
    def csvs(self) -> list[str]:
        """The names of the versions that it installs, each once."""
        return list(dict.fromkeys(chosen.bundle.name for chosen, _ in self.bundles))

    @property
    def name(self) -> str:
        """Derived from the content, so that writing it twice writes it once."""
        owners = sorted(uid_of(one) or name_of(one) for one in self.subscriptions)
        images = [chosen.bundle.image for chosen, _ in self.bundles]
        content = json.dumps([self.namespace, self.generation, owners, self.csvs, images])
        digest = base64.b32encode(hashlib.sha256(content.encode()).digest()).decode().lower()
        return f"install-{digest[:_NAME_LENGTH]}"


def manifest(draft: Draft) -> Manifest:
    """The InstallPlan, without status."""
    return {
        "apiVersion": kinds.INSTALL_PLAN.api_version,
        "kind": kinds.INSTALL_PLAN.kind,
        "metadata": {
            "name": draft.name,
            "namespace": draft.namespace,
            "ownerReferences": [_owner(one) for one in draft.subscriptions],
        },
        "spec": {
            "clusterServiceVersionNames": draft.csvs,
            "approval": "Manual" if draft.is_manual else "Automatic",
            "approved": not draft.is_manual,
            "generation": draft.generation,
        },
    }


def status(draft: Draft) -> Manifest:
    """Its first status: every step, all still unknown."""
    return {
        "phase": "RequiresApproval" if draft.is_manual else "Installing",
        "catalogSources": sorted({chosen.catalog.key.name for chosen, _ in draft.bundles}),
        "plan": [
            step for chosen, bundle in draft.bundles for step in steps(bundle, draft.namespace, reference(chosen))
        ],
        "bundleLookups": [_lookup(chosen) for chosen, _ in draft.bundles],
    }


def reference(chosen: Chosen) -> Reference:
    """Where the objects of a chosen bundle are."""
    key = chosen.catalog.key
    properties = annotation(chosen.bundle, chosen.package)
    return Reference(bundle_hash(chosen.bundle.image), key.namespace, key, chosen.replaces, properties)


def next_generation(subscriptions: Iterable[ReadOnly], plans: Iterable[ReadOnly]) -> int:
    """One more than every generation in the namespace."""
    used = [(one.get("status") or {}).get("installPlanGeneration") or 0 for one in subscriptions]
    used += [(one.get("spec") or {}).get("generation") or 0 for one in plans]
    return max(used, default=0) + 1


def unfinished(draft: Draft, plans: Iterable[ReadOnly]) -> ReadOnly | None:
    """A plan with this very content that an interrupted run left behind: newer than what its owners know of."""
    known = max((one.get("status") or {}).get("installPlanGeneration") or 0 for one in draft.subscriptions)
    owners = {uid_of(one) for one in draft.subscriptions}
    for plan in plans:
        spec: Mapping[str, object] = plan.get("spec") or {}
        is_new = int(str(spec.get("generation") or 0)) > known
        is_ours = {one.get("uid") for one in metadata(plan).get("ownerReferences") or ()} == owners
        if is_new and is_ours and spec.get("clusterServiceVersionNames") == draft.csvs:
            return plan
    return None


def subscribed(draft: Draft, subscription: ReadOnly) -> str:
    """The version that a Subscription of the plan gets; empty when none of them is for it."""
    mine = (chosen.bundle.name for chosen, _ in draft.bundles if name_of(subscription) in chosen.subscribers)
    return next(mine, "")


def _owner(subscription: ReadOnly) -> Manifest:
    return {
        "apiVersion": kinds.SUBSCRIPTION.api_version,
        "kind": kinds.SUBSCRIPTION.kind,
        "name": name_of(subscription),
        "uid": uid_of(subscription),
        "controller": False,
        "blockOwnerDeletion": False,
    }


def _lookup(chosen: Chosen) -> Manifest:
    key = chosen.catalog.key
    return {
        "path": chosen.bundle.image,
        "identifier": chosen.bundle.name,
        "replaces": chosen.replaces,
        "catalogSourceRef": {"namespace": key.namespace, "name": key.name},
        "properties": annotation(chosen.bundle, chosen.package),
    }
