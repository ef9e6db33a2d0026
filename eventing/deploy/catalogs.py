"""The server of catalogs on any cluster: its Deployment and Service, and what it may do."""

from __future__ import annotations

from eventing.deploy import base
from eventing.deploy.network import ANYWHERE, policy, tcp, who_measures
from eventing.deploy.pods import USER, confined, deployment, probe, service, start_probe
from eventing.deploy.rbac import binding, role, rules, service_account
from eventing.deploy.rules import READ, Rule
from shared import kinds, names
from shared.api.manifest import Manifest

NAME = names.CATALOGS
_MEMORY = "768Mi"  # to index two catalogs at once that its own folder has lost
_RULES = (
    *(Rule(kind, (*READ, "watch")) for kind in (kinds.CLUSTER_CATALOG, kinds.CATALOG_SOURCE)),
    *(Rule(kind, READ) for kind in kinds.MIRROR_SETS),
    Rule(kinds.CONFIG_MAP, ("get",)),
    Rule(kinds.SECRET, ("get",)),
    Rule(kinds.SERVICE_ACCOUNT, ("get",)),
)
"""It reads catalogs as the workers do: images with the logins of their namespaces, and ConfigMaps."""


def objects() -> list[Manifest]:
    """The Pods and their Service."""
    found = service(NAME, 80, base.PORT)
    registry = {"name": "grpc", "port": base.REGISTRY_PORT, "targetPort": base.REGISTRY_PORT}
    return [_deployment(), {**found, "spec": {**found["spec"], "ports": [*found["spec"]["ports"], registry]}}]


def network_policy() -> Manifest:
    """Anybody in the cluster may read catalogs; it reads images from registries with any port."""
    ingress = [tcp(base.PORT, base.REGISTRY_PORT), {**who_measures(), **tcp(base.HEALTH_PORT)}]
    return policy(NAME, ingress, [ANYWHERE], has_queue=False)


def permissions() -> list[Manifest]:
    """What its Pods may do."""
    return [service_account(NAME), role(NAME, rules(_RULES)), binding(NAME, NAME)]


def _deployment() -> Manifest:
    measured = {"name": "OLMF_HEALTH_PORT", "value": str(base.HEALTH_PORT)}
    served = {
        "name": "catalogs", "image": base.IMAGE, "args": ["run", "catalogs"],
        "env": [*base.environment(has_queue=False), measured],
        "ports": [
            {"name": "http", "containerPort": base.PORT, "protocol": "TCP"},
            {"name": "grpc", "containerPort": base.REGISTRY_PORT, "protocol": "TCP"},
            {"name": "metrics", "containerPort": base.HEALTH_PORT, "protocol": "TCP"},
        ],
        **_probes(), **confined(_MEMORY), **base.mounts(),
    }  # fmt: skip
    pod = {
        "serviceAccountName": NAME, "automountServiceAccountToken": True, "securityContext": {"fsGroup": USER},
        **base.spread(NAME), "containers": [served], **base.volumes(),
    }  # fmt: skip
    return deployment(NAME, base.pulling(pod), replicas=2)


def _probes() -> Manifest:
    """It listens once it knows all ClusterCatalogs."""
    listens = {"tcpSocket": {"port": "http"}}
    return {
        "startupProbe": start_probe(listens),
        "livenessProbe": probe(listens, every=10, failures=6),
        "readinessProbe": probe(listens, every=5, failures=2),
    }
