"""The APIServices of what the sandbox itself serves, built in or by definitions, as a real server registers them."""

from __future__ import annotations

from eventing.local.apiserver.world import World
from shared.api.manifest import Manifest, labels_of

TABLE = "apiregistration.k8s.io/apiservices"
AUTOMANAGED = "kube-aggregator.kubernetes.io/automanaged"
"""Label of APIServices that the server registered itself."""


def follow(world: World) -> None:
    """Register what is served, and take back what is not served any more."""
    registry = world.registry
    ours = [(group, one) for group, found in registry.versions() for one in found if not registry.is_remote(group, one)]
    served = {f"{version}.{group}": (group, version) for group, version in ours}
    present = {stored.key[2]: stored for stored in world.store.list(TABLE)}
    for name in sorted(served.keys() - present.keys()):
        world.store.put((TABLE, "", name), _local(world, name, *served[name]))
    for name in sorted(present.keys() - served.keys()):
        if AUTOMANAGED in labels_of(present[name].manifest):
            world.store.remove(present[name].key)


def _local(world: World, name: str, group: str, version: str) -> Manifest:
    """An APIService without a Service behind it is always available."""
    made = world.new_object("apiregistration.k8s.io/v1", "APIService", name)
    made["metadata"]["labels"] = {AUTOMANAGED: "true"}
    available = {
        "type": "Available", "status": "True", "reason": "Local",
        "message": "Local APIServices are always available", "lastTransitionTime": world.now(),
    }  # fmt: skip
    spec = {"version": version, "groupPriorityMinimum": 1000, "versionPriority": 100}
    return {**made, "spec": {"group": group, **spec} if group else spec, "status": {"conditions": [available]}}
