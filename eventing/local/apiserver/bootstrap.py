"""The objects of a new cluster: its namespaces, the default roles, and the APIServices of what is served."""

from __future__ import annotations

from eventing.local.apiserver import api_services
from eventing.local.apiserver.authentication import MASTERS
from eventing.local.apiserver.resources import RBAC
from eventing.local.apiserver.world import World
from shared.api.manifest import Manifest

NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
_ALL: Manifest = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
_READ = ["get", "list", "watch"]
_WRITE = ["create", "delete", "deletecollection", "patch", "update"]
_CORE = [
    "configmaps", "endpoints", "persistentvolumeclaims", "pods", "replicationcontrollers", "serviceaccounts",
    "services",
]  # fmt: skip
_APPS = [
    "daemonsets", "deployments", "deployments/scale", "replicasets", "replicasets/scale", "statefulsets",
    "statefulsets/scale",
]  # fmt: skip
_DISCOVERY = [
    "/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*", "/readyz", "/version",
    "/version/",
]  # fmt: skip


def _rules(verbs: list[str], extra: list[str]) -> list[Manifest]:
    return [
        {"apiGroups": [""], "resources": [*_CORE, *extra], "verbs": verbs},
        {"apiGroups": ["apps"], "resources": _APPS, "verbs": verbs},
        {"apiGroups": ["batch"], "resources": ["cronjobs", "jobs"], "verbs": verbs},
        {"apiGroups": ["networking.k8s.io"], "resources": ["ingresses", "networkpolicies"], "verbs": verbs},
        {"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": verbs},
    ]


_MAY_ADMINISTER: Manifest = {
    "apiGroups": [RBAC], "resources": ["rolebindings", "roles"], "verbs": [*_READ, *_WRITE],
}  # fmt: skip
_LEVELS: dict[str, list[Manifest]] = {
    "view": _rules(_READ, ["events", "namespaces", "limitranges", "resourcequotas"]),
    "edit": _rules(_WRITE, ["secrets", "events"]),
    "admin": [_MAY_ADMINISTER],
}
_SELF = ["selfsubjectaccessreviews", "selfsubjectrulesreviews"]
ROLES: dict[str, list[Manifest]] = {
    "cluster-admin": [_ALL, {"nonResourceURLs": ["*"], "verbs": ["*"]}],
    "system:discovery": [{"nonResourceURLs": _DISCOVERY, "verbs": ["get"]}],
    "system:basic-user": [
        {"apiGroups": ["authorization.k8s.io"], "resources": _SELF, "verbs": ["create"]},
        {"apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"], "verbs": ["create"]},
    ],
    "system:auth-delegator": [
        {"apiGroups": ["authentication.k8s.io"], "resources": ["tokenreviews"], "verbs": ["create"]},
        {"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]},
    ],
    **{f"system:aggregate-to-{level}": rules for level, rules in _LEVELS.items()},
}
BINDINGS = {
    "cluster-admin": MASTERS, "system:discovery": "system:authenticated", "system:basic-user": "system:authenticated",
}  # fmt: skip
_ABOVE = {"view": "edit", "edit": "admin"}


AUTHENTICATION = "extension-apiserver-authentication"
FRONT_PROXY = {
    "requestheader-allowed-names": '["front-proxy"]',
    "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
    "requestheader-group-headers": '["X-Remote-Group"]',
    "requestheader-uid-headers": '["X-Remote-Uid"]',
    "requestheader-username-headers": '["X-Remote-User"]',
}
"""What an aggregated API learns about our requests, beside the CA of our certificate."""
AUTHORITY = "requestheader-client-ca-file"


def _fill_authentication(world: World) -> None:
    """Create what aggregated APIs read to believe our requests."""
    known = {AUTHORITY: world.front_proxy.authority} if world.front_proxy else {}
    data = {**world.new_object("v1", "ConfigMap", AUTHENTICATION, "kube-system"), "data": {**FRONT_PROXY, **known}}
    role = world.new_object(f"{RBAC}/v1", "Role", f"{AUTHENTICATION}-reader", "kube-system")
    role["rules"] = [
        {
            "apiGroups": [""], "resources": ["configmaps"], "resourceNames": [AUTHENTICATION],
            "verbs": ["get", "list", "watch"],
        }
    ]  # fmt: skip
    for table, manifest, field in (("/configmaps", data, "data"), (f"{RBAC}/roles", role, "rules")):
        key = (table, "kube-system", manifest["metadata"]["name"])
        present = world.store.get(key)
        if present is None:
            world.store.put(key, manifest)
        elif present.manifest.get(field) != manifest[field]:
            world.store.put(key, {**present.copy(), field: manifest[field]})


def fill_empty(world: World) -> None:
    """Create the objects of a new cluster that do not exist."""
    for name in NAMESPACES:
        namespace = world.new_object("v1", "Namespace", name)
        namespace["metadata"]["labels"] = {"kubernetes.io/metadata.name": name}
        namespace |= {"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}
        _ensure(world, "/namespaces", namespace)
    for name, rules in ROLES.items():
        role = {**world.new_object(f"{RBAC}/v1", "ClusterRole", name), "rules": rules}
        level = name.removeprefix("system:aggregate-to-")
        if level in _LEVELS:
            role["metadata"]["labels"] = {f"{RBAC}/aggregate-to-{level}": "true"}
        _ensure(world, f"{RBAC}/clusterroles", role)
    for level in ("view", "edit", "admin"):
        role = world.new_object(f"{RBAC}/v1", "ClusterRole", level)
        if level in _ABOVE:
            role["metadata"]["labels"] = {f"{RBAC}/aggregate-to-{_ABOVE[level]}": "true"}
        role["aggregationRule"] = {"clusterRoleSelectors": [{"matchLabels": {f"{RBAC}/aggregate-to-{level}": "true"}}]}
        _ensure(world, f"{RBAC}/clusterroles", role)
    for name, group in BINDINGS.items():
        binding = world.new_object(f"{RBAC}/v1", "ClusterRoleBinding", name)
        binding["roleRef"] = {"apiGroup": RBAC, "kind": "ClusterRole", "name": name}
        binding["subjects"] = [{"apiGroup": RBAC, "kind": "Group", "name": group}]
        _ensure(world, f"{RBAC}/clusterrolebindings", binding)
    _fill_authentication(world)
    api_services.follow(world)


def _ensure(world: World, table: str, manifest: Manifest) -> None:
    key = (table, "", manifest["metadata"]["name"])
    if world.store.get(key) is None:
        world.store.put(key, manifest)
