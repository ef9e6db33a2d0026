"""The Subscriptions that a plan creates for dependencies without one (resolver.md §10.5)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator

from shared import kinds
from shared.api.manifest import Manifest
from shared.api.views import InstallPlan
from shared.domain.resolver.model import Chosen

_LONGEST = 253
_CHARACTERS = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")


def steps(chosen: Iterable[Chosen], namespace: str) -> Iterator[Manifest]:
    """One step for each bundle that no Subscription requested."""
    kind = kinds.SUBSCRIPTION
    for one in chosen:
        if one.subscribers:
            continue
        subscribed = subscription(one, namespace)
        yield {
            "resolving": one.bundle.name,
            "status": "Unknown",
            "resource": {
                "sourceName": one.catalog.key.name,
                "sourceNamespace": one.catalog.key.namespace,
                "group": kind.group,
                "version": kind.version,
                "kind": kind.kind,
                "name": subscribed["metadata"]["name"],
                "manifest": json.dumps(subscribed, separators=(",", ":")),
            },
        }


def subscription(chosen: Chosen, namespace: str) -> Manifest:
    """The Subscription that keeps a dependency up to date, starting at the chosen version."""
    kind, key = kinds.SUBSCRIPTION, chosen.catalog.key
    name = _name(f"{chosen.package}-{chosen.channel}-{key.name}-{key.namespace}")
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "source": key.name,
            "sourceNamespace": key.namespace,
            "name": chosen.package,
            "channel": chosen.channel,
            "startingCSV": chosen.bundle.name,
            "installPlanApproval": "Automatic",
        },
    }


def generated(plan: InstallPlan) -> tuple[str, ...]:
    """The names of the Subscriptions that a plan creates."""
    return tuple(step.name for step in plan.steps if step.kind == kinds.SUBSCRIPTION.kind)


def _name(desired: str) -> str:
    """The name that OLM gives; truncated, with a hash, where the API server would refuse it."""
    if len(desired) <= _LONGEST and _CHARACTERS.fullmatch(desired):
        return desired
    digest = hashlib.sha256(desired.encode()).hexdigest()[:8]
    kept = re.sub(r"[^a-z0-9.-]", "-", desired.lower())[: _LONGEST - len(digest) - 1].strip(".-")
    return f"{kept}-{digest}"
