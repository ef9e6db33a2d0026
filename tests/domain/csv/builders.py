"""Objects for the tests of the lifecycle; a test names only what matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.api.manifest import Manifest
from shared.names import CSV_CLEANUP

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
ALL_MODES = ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")
RULE = {"verbs": ["get"], "apiGroups": ["g"], "resources": ["r"]}
MEMBERSHIP = {"olm.operatorGroup": "og", "olm.operatorNamespace": "ns", "olm.targetNamespaces": "ns"}


def at(ago: timedelta = timedelta()) -> str:
    return (NOW - ago).strftime("%Y-%m-%dT%H:%M:%SZ")


def a_csv(name: str = "a.v1", *, replaces: str = "", status: Manifest | None = None, **more: Any) -> Manifest:
    """A member of the group `og`, with one Deployment unless the `strategy` says otherwise."""
    meta = more.pop("meta", {})
    annotations = more.pop("annotations", MEMBERSHIP)
    strategy = more.pop("strategy", {"deployments": [a_component()]})
    spec = {
        "displayName": name,
        "install": {"strategy": more.pop("strategy_name", "deployment"), "spec": strategy},
        "installModes": [{"type": mode, "supported": True} for mode in more.pop("modes", ALL_MODES)],
        **({"replaces": replaces} if replaces else {}),
        **more,
    }
    csv: Manifest = {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {
            "name": name,
            "namespace": "ns",
            "uid": f"uid-{name}",
            "resourceVersion": "1",
            "annotations": dict(annotations),
            "finalizers": [CSV_CLEANUP],
            **meta,
        },
        "spec": spec,
    }
    return csv | ({"status": status} if status is not None else {})


def a_status(phase: str, reason: str = "", message: str = "", *, ago: timedelta = timedelta()) -> Manifest:
    entry = {
        "phase": phase,
        "reason": reason,
        "message": message,
        "lastUpdateTime": at(ago),
        "lastTransitionTime": at(ago),
    }
    return {**entry, "conditions": [entry]}


def a_component(name: str = "operator", **pod: Any) -> Manifest:
    return {
        "name": name,
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "c", "image": "img"}], **pod},
            },
        },
    }


def a_permission(account: str = "sa", *rules: Manifest) -> Manifest:
    return {"serviceAccountName": account, "rules": list(rules or (RULE,))}


def a_group(name: str = "og", targets: Sequence[str] | None = ("ns",), **spec: Any) -> Manifest:
    status = {} if targets is None else {"namespaces": list(targets)}
    return {
        "apiVersion": "operators.coreos.com/v1",
        "kind": "OperatorGroup",
        "metadata": {
            "name": name,
            "namespace": "ns",
            "uid": f"uid-{name}",
            "creationTimestamp": at(timedelta(hours=1)),
        },
        "spec": {"targetNamespaces": [target for target in targets or () if target], **spec},
        "status": status,
    }


def an_account(name: str = "sa", *owners: tuple[str, str]) -> Manifest:
    references = [
        {"apiVersion": "operators.coreos.com/v1alpha1", "kind": kind, "name": "x", "uid": uid} for kind, uid in owners
    ]
    meta = {"name": name, "namespace": "ns", "ownerReferences": references}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta}


def owned_crd(name: str = "things.example.com", version: str = "v1", kind: str = "Thing") -> Manifest:
    return {"owned": [{"name": name, "version": version, "kind": kind}]}


def a_crd(name: str = "things.example.com", *, served: bool = True, **more: Any) -> Manifest:
    """Established, unless `conditions` says otherwise."""
    conditions = more.pop("conditions", {"Established": "True", "NamesAccepted": "True"})
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name, "uid": f"uid-{name}", "annotations": more.pop("annotations", {})},
        "spec": {"versions": [{"name": "v1", "served": served}]},
        "status": {"conditions": [{"type": key, "status": value} for key, value in conditions.items()]},
    }


def conditions(**types: Mapping[str, str]) -> list[Manifest]:
    return [{"type": key, **value} for key, value in types.items()]


def phases(csv: Manifest) -> list[tuple[str, str]]:
    """The history of a ClusterServiceVersion: phase and reason."""
    return [(entry["phase"], entry["reason"]) for entry in (csv.get("status") or {}).get("conditions") or ()]
