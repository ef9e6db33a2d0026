"""Objects for tests of groups, each with only what a test names."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]


def a_namespace(name: str, **labels: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def a_group(name: str = "g", namespace: str = "ns", **more: Any) -> Object:
    """`targets` becomes status.namespaces; `provided` the annotation; the rest of the keys the spec."""
    status = {"namespaces": more.pop("targets"), "lastUpdated": "2025-01-01T00:00:00Z"} if "targets" in more else {}
    annotations = {"olm.providedAPIs": more.pop("provided")} if "provided" in more else {}
    meta = {
        "name": name,
        "namespace": namespace,
        "uid": f"uid-{name}",
        "resourceVersion": "7",
        "creationTimestamp": more.pop("created", "2025-01-01T00:00:00Z"),
        "annotations": annotations,
    }
    return {
        "apiVersion": "operators.coreos.com/v1",
        "kind": "OperatorGroup",
        "metadata": meta,
        "spec": more,
        "status": status,
    }


ALL_MODES = [
    {"type": mode, "supported": True} for mode in ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")
]


def a_csv(name: str = "op.v1", namespace: str = "ns", **more: Any) -> Object:
    """`owns` names CRDs as `plural.group/version/Kind`; `status` replaces the status; `member_of` annotates."""
    group: Object | None = more.pop("member_of", None)
    annotations = dict(more.pop("annotations", {}))
    if group:
        annotations |= {
            "olm.operatorNamespace": namespace,
            "olm.operatorGroup": group["metadata"]["name"],
            "olm.targetNamespaces": ",".join(sorted(group["status"]["namespaces"])),
        }
    owned = [dict(zip(("name", "version", "kind"), text.split("/"), strict=True)) for text in more.pop("owns", ())]
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"uid-{namespace}-{name}",
            "resourceVersion": "9",
            "creationTimestamp": more.pop("created", "2025-01-01T00:00:00Z"),
            "labels": dict(more.pop("labels", {})),
            "annotations": annotations,
            **({"deletionTimestamp": "2025-01-02T00:00:00Z"} if more.pop("deleted", False) else {}),
        },
        "spec": {
            "displayName": name,
            "installModes": more.pop("modes", ALL_MODES),
            "customresourcedefinitions": {"owned": owned, "required": more.pop("required", [])},
            "apiservicedefinitions": {"owned": more.pop("services", [])},
            "nativeAPIs": more.pop("native", []),
            "install": {"strategy": "deployment", "spec": more.pop("install", {})},
        },
        "status": more.pop("status", {"phase": more.pop("phase", "Succeeded"), "reason": more.pop("reason", "")}),
    }


def a_definition(
    uid: str = "crd-uid", *, of: str = "ns/op.v1", name: str = "geese.birds.com", kind: str = "Goose", **more: Any
) -> Object:
    """Established, and installed for the version `of`, unless it says otherwise."""
    conditions = more.pop("conditions", {"Established": "True", "NamesAccepted": "True"})
    plural, _, group = name.partition(".")
    versions = [{"name": version, "served": served} for version, served in more.pop("versions", {"v1": True}).items()]
    marks = {f"operatorframework.io/installed-alongside-{of.replace('/', '-')}": of} if of else {}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name, "uid": uid, "annotations": marks, **more},
        "spec": {"group": group, "names": {"plural": plural, "kind": kind}, "versions": versions},
        "status": {"conditions": [{"type": key, "status": value} for key, value in conditions.items()]},
    }
