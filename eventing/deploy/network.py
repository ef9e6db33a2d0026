"""NetworkPolicies: a pod of ours may connect, and be connected to, only as they say.

They are written as the API server stores them (each protocol named, no empty list), so that `kubectl apply` of the same
files changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from eventing.deploy.pods import PART_OF, named
from eventing.deploy.rbac import NAMESPACE
from eventing.deploy.redis import REDIS, REDIS_PORT
from shared import names
from shared.api.manifest import Manifest

MONITORING: Final = ("monitoring", "openshift-monitoring", "openshift-user-workload-monitoring")
"""Where Prometheus usually is; another namespace gets the label `metrics: enabled`, as with many operators."""
ANYWHERE: Manifest = {}


def tcp(*numbers: int) -> Manifest:
    """A rule for these ports of any address; without numbers for every port."""
    return {"ports": [{"port": number, "protocol": "TCP"} for number in numbers] or [{"protocol": "TCP"}]}


WEB = tcp(80, 443)
_DNS: Manifest = {
    "ports": [{"port": port, "protocol": protocol} for port in (53, 5353) for protocol in ("UDP", "TCP")]
}  # 5353 is the port of the DNS pods of OpenShift
_TO_REDIS: Manifest = {"to": [{"podSelector": {"matchLabels": named(REDIS)}}], **tcp(REDIS_PORT)}


def from_namespaces(*spaces: str) -> Manifest:
    """A rule for every pod of these namespaces."""
    among = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": list(spaces)}
    return {"from": [{"namespaceSelector": {"matchExpressions": [among]}}]}


def who_measures() -> Manifest:
    """A rule for what reads `/metrics`: our own pods, and those of namespaces that an administrator marks as such."""
    marked = {"namespaceSelector": {"matchLabels": {"metrics": "enabled"}}}
    return {"from": [*from_namespaces(NAMESPACE, *MONITORING)["from"], marked]}


def policy(
    name: str,
    ingress: Iterable[Manifest],
    egress: Iterable[Manifest],
    selector: Manifest | None = None,
    *,
    has_queue: bool = True,
) -> Manifest:
    """The policy of pods that use DNS, and Redis unless they have no queue.

    Else they connect, and are connected to, as the rules say.
    """
    chosen = selector or {"matchLabels": named(name)}
    return _policy(name, chosen, list(ingress), [_DNS, *([_TO_REDIS] if has_queue else ()), *egress])


def redis_policy() -> Manifest:
    """The policy of Redis: our programs that have a queue connect to it, and it connects to nothing."""
    others = {"key": "app.kubernetes.io/name", "operator": "NotIn", "values": [names.PACKAGES, names.CATALOGS]}
    selector = {"matchLabels": PART_OF, "matchExpressions": [others]}
    return _policy(REDIS, {"matchLabels": named(REDIS)}, [{"from": [{"podSelector": selector}], **tcp(REDIS_PORT)}], [])


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
