"""The objects that every installation of OLM has from the start (csv.md §15.3)."""

from __future__ import annotations

from collections.abc import Sequence

from shared import names
from shared.api.manifest import Manifest
from shared.kinds import CLUSTER_ROLE, NAMESPACE, OLM_CONFIG, OPERATOR_GROUP, Kind

OPERATORS = "operators"
"""The namespace of operators that work in all namespaces."""
_AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-"
_OLM = OPERATOR_GROUP.group
_USED = ["clusterserviceversions", "catalogsources", "installplans", "subscriptions"]
_READ = ["get", "list", "watch"]
_EDITS: Sequence[Manifest] = (
    {"apiGroups": [_OLM], "resources": ["subscriptions"], "verbs": ["create", "update", "patch", "delete"]},
    {"apiGroups": [_OLM], "resources": _USED, "verbs": ["delete"]},
)
_VIEWS: Sequence[Manifest] = (
    {"apiGroups": [_OLM], "resources": [*_USED, "operatorgroups"], "verbs": _READ},
    {
        "apiGroups": ["packages.operators.coreos.com"],
        "resources": ["packagemanifests", "packagemanifests/icon"],
        "verbs": _READ,
    },
)


def defaults(global_namespace: str) -> tuple[Manifest, ...]:
    """The objects in the order in which they are made; `global_namespace` is the one of the installation."""
    return (
        _object(NAMESPACE, OPERATORS),
        _object(OPERATOR_GROUP, "global-operators", OPERATORS, spec={}),
        _object(OPERATOR_GROUP, "olm-operators", global_namespace, spec={"targetNamespaces": [global_namespace]}),
        _role("aggregate-olm-edit", ("admin", "edit"), _EDITS),
        _role("aggregate-olm-view", ("admin", "edit", "view"), _VIEWS),
        _marked(_object(OLM_CONFIG, "cluster")),
    )


def _object(kind: Kind, name: str, namespace: str = "", **content: Manifest) -> Manifest:
    meta = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **content}


def _marked(config: Manifest) -> Manifest:
    """The last of them, which says that all were made."""
    return {**config, "metadata": {**config["metadata"], "annotations": {names.DEFAULTS: "made"}}}


def _role(name: str, above: Sequence[str], rules: Sequence[Manifest]) -> Manifest:
    role = _object(CLUSTER_ROLE, name)
    role["metadata"]["labels"] = {f"{_AGGREGATE}{level}": "true" for level in above}
    return {**role, "rules": list(rules)}
