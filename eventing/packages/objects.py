"""The Service and the Pods of `olmf run packages`, on every cluster."""

from __future__ import annotations

from typing import Final

from shared import names
from shared.api.manifest import Manifest
from shared.domain.endpoints import naming
from shared.kinds import DEPLOYMENT, SERVICE

PORT: Final = 8443
FOLDER: Final = "/var/run/olmf/serving"
"""Where a Pod finds its certificate."""
LABELS: Final = {"app.kubernetes.io/name": names.PACKAGES}
_VOLUME: Final = "serving"
_RESTRICTED: Final = {
    "runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}, "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
}  # fmt: skip
"""What the pod security standard of the namespace asks for."""


def service(namespace: str) -> Manifest:
    """The Service that the APIService names."""
    meta = {"name": naming.service_name(names.PACKAGES), "namespace": namespace}
    spec = {"selector": LABELS, "ports": [{"name": "https", "port": 443, "targetPort": PORT}]}
    return {"apiVersion": SERVICE.api_version, "kind": SERVICE.kind, "metadata": meta, "spec": spec}


def container(image: str) -> Manifest:
    """The container: what it runs, and where it finds its certificate."""
    words = ["run", "packages", "--tls-cert", f"{FOLDER}/tls.crt", "--tls-key", f"{FOLDER}/tls.key"]
    return {
        "name": "packages", "image": image, "args": words,
        "env": [{"name": "OLMF_PORT", "value": str(PORT)}],
        "ports": [{"name": "https", "containerPort": PORT, "protocol": "TCP"}],
        "volumeMounts": [{"name": _VOLUME, "mountPath": FOLDER, "readOnly": True}],
    }  # fmt: skip


def volume() -> Manifest:
    """The Secret with the certificate, which a step makes."""
    return {"name": _VOLUME, "secret": {"secretName": naming.secret_name(names.PACKAGES)}}


def simulated(namespace: str) -> Manifest:
    """The Deployment whose Pods the simulated kubelet runs as processes."""
    served = {**container("olm-functions"), "command": ["olmf"], "securityContext": _RESTRICTED}
    pod = {"containers": [served], "volumes": [volume()]}
    meta = {"name": names.PACKAGES, "namespace": namespace, "labels": {**LABELS, names.MANAGED: "true"}}
    template = {"metadata": {"labels": LABELS, "annotations": {names.KUBELET_SERVE: "olmf"}}, "spec": pod}
    spec = {"replicas": 1, "selector": {"matchLabels": LABELS}, "template": template}
    return {"apiVersion": DEPLOYMENT.api_version, "kind": DEPLOYMENT.kind, "metadata": meta, "spec": spec}
