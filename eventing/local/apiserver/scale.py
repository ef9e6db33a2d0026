"""The scale subresource of built-in and custom kinds."""

from __future__ import annotations

from typing import Any

from eventing.local.apiserver.failures import Failure
from eventing.local.apiserver.resources import Resource
from eventing.local.apiserver.tables import json_path
from shared.api.manifest import Manifest, ReadOnly, metadata

_PATHS = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}


def read(resource: Resource, manifest: ReadOnly) -> Manifest:
    """The Scale of an object."""
    paths = resource.scale or _PATHS
    meta = metadata(manifest)
    if resource.scale and not [*json_path(paths["specReplicasPath"], manifest)]:
        why = f'the spec replicas field "{paths["specReplicasPath"]}" does not exist'
        raise Failure(500, "InternalError", f"Internal error occurred: {why}")
    shown = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    status: Manifest = {"replicas": _first(paths["statusReplicasPath"], manifest, 0)}
    if selector := _selector(resource, manifest):
        status["selector"] = selector
    return {
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {k: meta[k] for k in shown if k in meta},
        "spec": {"replicas": _first(paths["specReplicasPath"], manifest, 0)}, "status": status,
    }  # fmt: skip


def _first(path: str, manifest: ReadOnly, default: Any) -> Any:
    return next(iter(json_path(path, manifest)), default)


def _selector(resource: Resource, manifest: ReadOnly) -> str:
    if resource.scale:
        path = resource.scale.get("labelSelectorPath")
        return str(_first(path, manifest, "")) if path else ""
    labels = manifest["spec"].get("selector", {}).get("matchLabels", {})
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))


def write(resource: Resource, manifest: Manifest, scale: Manifest) -> Manifest:
    """The object with the replicas of a Scale."""
    replicas = (scale.get("spec") or {}).get("replicas", 0)
    *above, last = (resource.scale or _PATHS)["specReplicasPath"].strip(".").split(".")
    target = manifest
    for name in above:
        target = target.setdefault(name, {})
    target[last] = replicas
    if version := (scale.get("metadata") or {}).get("resourceVersion"):
        manifest["metadata"]["resourceVersion"] = version
    else:
        manifest["metadata"].pop("resourceVersion", None)
    return manifest
