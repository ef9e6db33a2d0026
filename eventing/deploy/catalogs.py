"""The server of catalogs on any cluster: its Deployment and Service, and what it may do."""

from __future__ import annotations

from eventing.deploy import base
from eventing.deploy.network import ANYWHERE, policy, tcp, who_measures
from eventing.deploy.pods import USER, confined, deployment, probe, service, start_probe
from eventing.deploy.rbac import (
    RBAC,
    WORKER,
    account_of,
    binding,
    granted,
    role,
    rule_of_one,
    rules,
    service_account,
    subject,
)
from eventing.deploy.rules import READ, Rule
from shared import kinds, names
from shared.api.manifest import Manifest
from shared.domain.endpoints import naming

NAME = names.CATALOGS
KEYS = f"{NAME}-keys"
PORT = 8443
FOLDER = "/var/run/olmf/serving"
"""Where a Pod finds its certificate."""
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
    found = service(NAME, 443, PORT, "https")
    registry = {"name": "grpc", "port": base.REGISTRY_PORT, "targetPort": base.REGISTRY_PORT}
    return [_deployment(), {**found, "spec": {**found["spec"], "ports": [*found["spec"]["ports"], registry]}}]


def network_policy() -> Manifest:
    """Anybody in the cluster may read catalogs; it reads images from registries with any port."""
    ingress = [tcp(PORT, base.REGISTRY_PORT), {**who_measures(), **tcp(base.HEALTH_PORT)}]
    return policy(NAME, ingress, [ANYWHERE], has_queue=False)


def permissions() -> list[Manifest]:
    """What its Pods may do; the rights of the step that makes its keys; everybody's right to read its CAs."""
    made = [Rule(kinds.SECRET, ("create",)), Rule(kinds.DEPLOYMENT, ("get",)), Rule(kinds.CONFIG_MAP, ("create",))]
    keys = [
        *rules(made),
        rule_of_one(Rule(kinds.SECRET, ("get", "update")), naming.secret_name(NAME)),
        rule_of_one(Rule(kinds.CONFIG_MAP, ("get", "patch")), names.CATALOGS_AUTHORITIES),
    ]
    authorities = rule_of_one(Rule(kinds.CONFIG_MAP, ("get",)), names.CATALOGS_AUTHORITIES)
    makers = [subject(account_of("maintenance")), subject(WORKER)]
    return [
        service_account(NAME), role(NAME, rules(_RULES)), binding(NAME, NAME),
        *granted(KEYS, keys, makers),
        *granted(names.CATALOGS_AUTHORITIES, [authorities], [_everybody()]),
    ]  # fmt: skip


def _everybody() -> Manifest:
    """Who has a login: CAs are no secret."""
    return {"apiGroup": RBAC, "kind": "Group", "name": "system:authenticated"}


def _deployment() -> Manifest:
    tls = ["--tls-cert", f"{FOLDER}/tls.crt", "--tls-key", f"{FOLDER}/tls.key"]
    own = {"OLMF_PORT": str(PORT), "OLMF_HEALTH_PORT": str(base.HEALTH_PORT)}
    ports = {"https": PORT, "grpc": base.REGISTRY_PORT, "metrics": base.HEALTH_PORT}
    mount = {"name": "serving", "mountPath": FOLDER, "readOnly": True}
    served = {
        "name": "catalogs", "image": base.IMAGE, "args": ["run", "catalogs", *tls],
        "env": [*base.environment(has_queue=False), *({"name": key, "value": one} for key, one in own.items())],
        "ports": [{"name": key, "containerPort": port, "protocol": "TCP"} for key, port in ports.items()],
        **_probes(), **confined(_MEMORY), "volumeMounts": [mount, *base.mounts()["volumeMounts"]],
    }  # fmt: skip
    volume = {"name": "serving", "secret": {"secretName": naming.secret_name(NAME)}}
    pod = {
        "serviceAccountName": NAME, "automountServiceAccountToken": True, "securityContext": {"fsGroup": USER},
        **base.spread(NAME), "containers": [served], "volumes": [*base.volumes()["volumes"], volume],
    }  # fmt: skip
    made = deployment(NAME, base.pulling(pod), replicas=2)
    made["metadata"]["labels"][names.MANAGED] = "true"  # its events wake the step that makes its certificate
    return made


def _probes() -> Manifest:
    """It listens once it knows all ClusterCatalogs."""
    alive, ready = {"tcpSocket": {"port": "https"}}, {"path": "/readyz", "port": "https", "scheme": "HTTPS"}
    return {
        "startupProbe": start_probe(alive),
        "livenessProbe": probe(alive, every=10, failures=6),  # also while clients have all places
        "readinessProbe": probe({"httpGet": ready}, every=5, failures=2),
    }
