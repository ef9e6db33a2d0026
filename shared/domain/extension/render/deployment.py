"""The Deployments of a bundle (v1.md §18.4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from shared import kinds, names
from shared.api.manifest import Manifest, ReadOnly
from shared.domain.extension.render.model import Bundle, Plan
from shared.domain.extension.render.naming import certificate_name
from shared.domain.extension.render.overrides import overridden
from shared.domain.extension.render.webhooks import deployment_of

_VOLUMES: Final = (
    ("webhook-cert", "/tmp/k8s-webhook-server/serving-certs", "tls.crt", "tls.key"),  # noqa: S108
    ("apiservice-cert", "/apiserver.local.config/certificates", "apiserver.crt", "apiserver.key"),
)
"""Name, path, and the files of certificate and key: where operators look for them."""


def deployments(bundle: Bundle, plan: Plan) -> Iterator[Manifest]:
    """One per entry of the strategy, in its order."""
    serving = {deployment_of(webhook) for webhook in bundle.webhooks}
    for entry in bundle.deployments:
        manifest = _deployment(entry, bundle, plan)
        if entry["name"] in serving and plan.cert_provider != "none":
            manifest = _with_certificate(manifest)
        yield manifest if plan.deployment_config is None else overridden(manifest, plan.deployment_config)


def _deployment(entry: ReadOnly, bundle: Bundle, plan: Plan) -> Manifest:
    template = entry["spec"]["template"]
    annotations = {
        **bundle.annotations,
        **(template["metadata"].get("annotations") or {}),
        names.TARGET_NAMESPACES: ",".join(plan.targets),
        names.OPERATOR_NAMESPACE: plan.install_namespace,
    }
    meta: Manifest = {"name": entry["name"], "namespace": plan.install_namespace}
    labelled = {**template, "metadata": {**template["metadata"], "annotations": annotations}}
    return {
        "kind": kinds.DEPLOYMENT.kind,
        "apiVersion": kinds.DEPLOYMENT.api_version,
        "metadata": meta | ({"labels": entry["label"]} if entry.get("label") else {}),
        "spec": {**entry["spec"], "template": labelled, "revisionHistoryLimit": 1},
        "status": {},
    }


def _with_certificate(manifest: Manifest) -> Manifest:
    """With the Secret mounted wherever operators look for it, in place of whatever was there."""
    pod = manifest["spec"]["template"]["spec"]
    containers: list[Manifest] = pod["containers"] or []
    paths = {path for _, path, _, _ in _VOLUMES}
    removed = {name for name, _, _, _ in _VOLUMES} | {
        mount["name"]
        for container in containers
        for mount in container.get("volumeMounts") or ()
        if mount["mountPath"] in paths
    }
    secret = certificate_name(manifest["metadata"]["name"])
    volumes = [*_without(pod.get("volumes"), removed), *(_volume(secret, volume) for volume in _VOLUMES)]
    mounts = [{"name": name, "mountPath": path} for name, path, _, _ in _VOLUMES]
    mounted = [
        {**container, "volumeMounts": [*_without(container.get("volumeMounts"), removed), *mounts]}
        for container in containers
    ]
    return with_pod(manifest, {**pod, "volumes": volumes, "containers": mounted or pod["containers"]})


def _without(items: list[Manifest] | None, removed: set[str]) -> list[Manifest]:
    return [item for item in items or () if item["name"] not in removed]


def _volume(secret: str, volume: tuple[str, str, str, str]) -> Manifest:
    name, _, certificate, key = volume
    items = [{"key": "tls.crt", "path": certificate}, {"key": "tls.key", "path": key}]
    return {"name": name, "secret": {"secretName": secret, "items": items}}


def with_pod(manifest: Manifest, pod: Manifest) -> Manifest:
    """A Deployment with another pod in its template."""
    spec = manifest["spec"]
    return {**manifest, "spec": {**spec, "template": {**spec["template"], "spec": pod}}}
