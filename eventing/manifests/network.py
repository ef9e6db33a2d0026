"""NetworkPolicies: a pod of ours may connect, and be connected to, only as they say."""

from __future__ import annotations

from collections.abc import Iterable

from eventing.manifests.pods import PART_OF, named
from eventing.manifests.rbac import NAMESPACE
from eventing.manifests.redis import REDIS, REDIS_PORT
from shared.api.manifest import Manifest

ANYWHERE: Manifest = {}
API: Manifest = {"ports": [{"port": 443}, {"port": 6443}]}
"""The API server: its Service, and the usual port behind it."""
WEB: Manifest = {"ports": [{"port": 80}, {"port": 443}]}
_DNS: Manifest = {
    "ports": [{"port": port, "protocol": protocol} for port in (53, 5353) for protocol in ("UDP", "TCP")]
}  # 5353 is the port of the DNS pods of OpenShift
_TO_REDIS: Manifest = {"to": [{"podSelector": {"matchLabels": named(REDIS)}}], "ports": [{"port": REDIS_PORT}]}


def policy(name: str, ports: Iterable[int], egress: Iterable[Manifest], selector: Manifest | None = None) -> Manifest:
    """The policy of pods that use Redis, serve these ports to everybody, and connect to nothing else."""
    ingress = [{"ports": [{"port": port}]} for port in ports]
    return _policy(name, selector or {"matchLabels": named(name)}, ingress, [_DNS, _TO_REDIS, *egress])


def redis_policy() -> Manifest:
    """The policy of Redis: our programs connect to it, and it connects to nothing."""
    ours = {"from": [{"podSelector": {"matchLabels": PART_OF}}], "ports": [{"port": REDIS_PORT}]}
    return _policy(REDIS, {"matchLabels": named(REDIS)}, [ours], [])


def _policy(name: str, selector: Manifest, ingress: list[Manifest], egress: list[Manifest]) -> Manifest:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "podSelector": selector,
            "policyTypes": ["Ingress", "Egress"],
            "ingress": ingress,
            "egress": egress,
        },
    }
