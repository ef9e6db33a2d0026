"""NetworkPolicies: a pod of ours may connect, and be connected to, only as they say.

They are written as the API server stores them (each protocol named, no empty list), so that `kubectl apply` of the same
files changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from eventing.deploy.pods import PART_OF, named
from eventing.deploy.rbac import NAMESPACE
from eventing.deploy.redis import REDIS, REDIS_PORT
from shared.api.manifest import Manifest

ANYWHERE: Manifest = {}


def tcp(*numbers: int) -> Manifest:
    """A rule for these ports of any address; without numbers for every port."""
    return {"ports": [{"port": number, "protocol": "TCP"} for number in numbers] or [{"protocol": "TCP"}]}


WEB = tcp(80, 443)
_DNS: Manifest = {
    "ports": [{"port": port, "protocol": protocol} for port in (53, 5353) for protocol in ("UDP", "TCP")]
}  # 5353 is the port of the DNS pods of OpenShift
_TO_REDIS: Manifest = {"to": [{"podSelector": {"matchLabels": named(REDIS)}}], **tcp(REDIS_PORT)}


def from_namespaces(*names: str) -> Manifest:
    """A rule for every pod of these namespaces."""
    among = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": list(names)}
    return {"from": [{"namespaceSelector": {"matchExpressions": [among]}}]}


def policy(
    name: str, ingress: Iterable[Manifest], egress: Iterable[Manifest], selector: Manifest | None = None
) -> Manifest:
    """The policy of pods that use Redis and DNS, and else connect, and are connected to, as the rules say."""
    chosen = selector or {"matchLabels": named(name)}
    return _policy(name, chosen, list(ingress), [_DNS, _TO_REDIS, *egress])


def redis_policy() -> Manifest:
    """The policy of Redis: our programs connect to it, and it connects to nothing."""
    ours = {"from": [{"podSelector": {"matchLabels": PART_OF}}], **tcp(REDIS_PORT)}
    return _policy(REDIS, {"matchLabels": named(REDIS)}, [ours], [])


def _policy(name: str, selector: Manifest, ingress: list[Manifest], egress: list[Manifest]) -> Manifest:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "podSelector": selector,
            "policyTypes": ["Ingress", "Egress"],  # without rules for a direction nothing is allowed there
            **({"ingress": ingress} if ingress else {}),
            **({"egress": egress} if egress else {}),
        },
    }
