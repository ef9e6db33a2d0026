"""Deployments and Services of this project, and what the pod security standard `restricted` asks of their pods."""

from __future__ import annotations

from eventing.deploy.rbac import NAMESPACE
from shared.api.manifest import Manifest

PART_OF = {"app.kubernetes.io/part-of": "olm-functions"}


def named(name: str) -> dict[str, str]:
    """The label that selects the pods of one Deployment."""
    return {"app.kubernetes.io/name": name}


USER = 1001


def confined(memory: str) -> Manifest:
    """The limits of a container: memory, a read-only file system, no capabilities.

    They are not in the securityContext of the pod, which Knative does not accept.
    """
    return {
        "resources": {"requests": {"cpu": "50m", "memory": "96Mi"}, "limits": {"memory": memory}},
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
    }


def probe(action: Manifest, *, every: int, failures: int) -> Manifest:
    """A probe that fails after so many failures in a row; nodes are slow at times, so each may take five seconds."""
    return {**action, "periodSeconds": every, "timeoutSeconds": 5, "failureThreshold": failures}


def start_probe(action: Manifest) -> Manifest:
    """It has three minutes to start: a node where all start at once is slow, and who begins anew makes it slower."""
    return probe(action, every=1, failures=180)


def deployment(name: str, spec: Manifest, **more: object) -> Manifest:
    """A Deployment of pods with that spec; `more` are other fields of its spec."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": {**named(name), **PART_OF}},
        "spec": {
            **more,
            "selector": {"matchLabels": named(name)},
            "template": {"metadata": {"labels": {**named(name), **PART_OF}}, "spec": spec},
        },
    }


def service(name: str, port: int, target: int, protocol: str = "http") -> Manifest:
    """The Service of a Deployment; its port is named after the protocol, as service meshes expect."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"selector": named(name), "ports": [{"name": protocol, "port": port, "targetPort": target}]},
    }
