"""The server of PackageManifests on any cluster: its Deployment and Service, what it may do, and who makes its keys."""

from __future__ import annotations

from eventing.deploy import base
from eventing.deploy.network import ANYWHERE, policy, tcp
from eventing.deploy.pods import USER, confined, deployment, probe, start_probe
from eventing.deploy.rbac import (
    NAMESPACE,
    RBAC,
    WORKER,
    account_of,
    binding,
    granted,
    rule_of_one,
    rules,
    service_account,
    subject,
)
from eventing.deploy.rules import READ, Rule
from eventing.packages.objects import PORT, container, service, volume
from shared import kinds, names
from shared.api.manifest import Manifest
from shared.domain.endpoints import naming

NAME = names.PACKAGES
KEYS = f"{NAME}-keys"
_READER = "extension-apiserver-authentication-reader"
_MEMORY = "512Mi"  # to index a catalog; it serves with a quarter of it
_RULES = (
    Rule(kinds.CATALOG_SOURCE, (*READ, "watch")),
    Rule(kinds.CONFIG_MAP, ("get",)),
    Rule(kinds.SECRET, ("get",)),
    *(Rule(kind, READ) for kind in kinds.MIRROR_SETS),
)
"""It reads catalogs as the workers do: images with the logins of their namespaces, and ConfigMaps."""


def objects() -> list[Manifest]:
    """The Pods and their Service."""
    return [_deployment(), service(NAMESPACE)]


def network_policy() -> Manifest:
    """The API server connects to it, from whatever address; it reads images from registries with any port."""
    return policy(NAME, [tcp(PORT)], [ANYWHERE], has_queue=False)


def permissions() -> list[Manifest]:
    """What its Pods may do, and the rights on keys of the step that registers the API, in this namespace alone."""
    role = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": NAME}, "rules": rules(_RULES)}
    keys = rules([Rule(kinds.SECRET, ("create",)), Rule(kinds.DEPLOYMENT, ("get", "patch"))])
    keys.append(rule_of_one(Rule(kinds.SECRET, ("get", "update")), naming.secret_name(NAME)))
    return [
        service_account(NAME),
        role,
        binding(NAME, NAME),
        _binding({"name": f"{NAME}-reviews"}, ("ClusterRole", "system:auth-delegator")),
        _binding({"name": NAME, "namespace": "kube-system"}, ("Role", _READER)),
        *granted(KEYS, keys, [subject(account_of("maintenance")), subject(WORKER)]),
    ]  # fmt: skip


def _deployment() -> Manifest:
    whole = container(base.IMAGE)
    mounts = base.mounts()["volumeMounts"]
    served = {
        **whole, **_probes(), **confined(_MEMORY),
        "env": [*whole["env"], *base.environment(has_queue=False)], "volumeMounts": [*whole["volumeMounts"], *mounts],
    }  # fmt: skip
    pod = {
        "serviceAccountName": NAME, "automountServiceAccountToken": True, "securityContext": {"fsGroup": USER},
        **base.spread(NAME), "containers": [served], "volumes": [*base.volumes()["volumes"], volume()],
    }  # fmt: skip
    made = deployment(NAME, base.pulling(pod), replicas=2)
    made["metadata"]["labels"][names.MANAGED] = "true"  # its events wake the step that registers the API
    return made


def _probes() -> Manifest:
    alive, ready = ({"path": path, "port": "https", "scheme": "HTTPS"} for path in ("/livez", "/readyz"))
    return {
        "startupProbe": start_probe({"httpGet": alive}),
        "livenessProbe": probe({"httpGet": alive}, every=10, failures=6),
        "readinessProbe": probe({"httpGet": ready}, every=5, failures=2),
    }


def _binding(meta: Manifest, role: tuple[str, str]) -> Manifest:
    """`role`: its kind and name, which is not ours."""
    ref = {"apiGroup": RBAC, "kind": role[0], "name": role[1]}
    kind = "RoleBinding" if "namespace" in meta else "ClusterRoleBinding"
    return {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": meta, "roleRef": ref, "subjects": [subject(NAME)]}
