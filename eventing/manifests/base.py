"""The programs on any cluster: namespace, Redis, watcher, worker, endpoint, scheduler, NetworkPolicies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from eventing.manifests.rbac import NAMESPACE, WATCHER, WORKER, service_account
from shared.api.manifest import Manifest

IMAGE = "olm-functions:latest"
REDIS_IMAGE = "redis:8-alpine"
REDIS = "olmf-redis"
ENDPOINT = "olmf-endpoint"
SCHEDULER = "olmf-scheduler"
PORT = 8080
REDIS_PORT = 6379


@dataclass(frozen=True, slots=True)
class Program:
    """One Deployment of ours."""

    name: str
    run: str
    account: str
    replicas: int = 1
    memory: str = "256Mi"
    probe: str = ""
    """Path of the liveness probe, on the port of the program."""
    talks_to_api: bool = True


PROGRAMS = (
    Program(WATCHER, "watch", WATCHER, probe="/livez"),
    Program(WORKER, "worker", WORKER, replicas=2, memory="512Mi"),
    Program(ENDPOINT, "endpoint", ENDPOINT, replicas=2, probe="/healthz", talks_to_api=False),
    Program(SCHEDULER, "scheduler", SCHEDULER, memory="128Mi", talks_to_api=False),
)


def files() -> dict[str, list[Manifest]]:
    """File name to objects, numbered in the order in which they make sense."""
    return {
        "100-namespace.yaml": [
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": NAMESPACE, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}},
            }
        ],
        "200-redis.yaml": list(_redis()),
        "300-programs.yaml": [
            *(service_account(program.account) for program in PROGRAMS if not program.talks_to_api),
            *map(deployment, PROGRAMS),
            _service(ENDPOINT, 80, PORT),
            _service(WATCHER, PORT, PORT),  # its /metrics
        ],
        "400-network-policies.yaml": list(_network_policies()),
    }


def environment() -> list[Manifest]:
    """What every program of ours is told."""
    password = {"secretKeyRef": {"name": REDIS, "key": "password"}}
    return [
        {"name": "REDIS_PASSWORD", "valueFrom": password},
        {"name": "OLMF_REDIS_URL", "value": f"redis://:$(REDIS_PASSWORD)@{REDIS}.{NAMESPACE}.svc:{REDIS_PORT}/0"},
        {"name": "OLMF_UNPACK_IMAGE", "value": IMAGE},
        {"name": "OLMF_GLOBAL_NAMESPACE", "value": NAMESPACE},
    ]


def container(run: str, memory: str, probe: str) -> Manifest:
    """The container of a program: read-only, no rights, bounded."""
    health = {"httpGet": {"path": probe, "port": PORT}, "periodSeconds": 10, "failureThreshold": 3}
    return {
        "name": run,
        "image": IMAGE,
        "args": ["run", run],
        "env": environment(),
        "ports": [{"containerPort": PORT, "name": "http"}] if probe else [],
        **({"livenessProbe": health} if probe else {}),
        "resources": {"requests": {"cpu": "50m", "memory": "96Mi"}, "limits": {"memory": memory}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [{"name": "cache", "mountPath": "/var/cache/olmf"}, {"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108
    }


def pod_security() -> Manifest:
    """What the pod security standard `restricted` asks for."""
    return {"runAsNonRoot": True, "runAsUser": 1001, "seccompProfile": {"type": "RuntimeDefault"}}


def deployment(program: Program) -> Manifest:
    """The Deployment of a program."""
    spec = {
        "serviceAccountName": program.account,
        "automountServiceAccountToken": program.talks_to_api,
        "securityContext": pod_security(),
        "containers": [container(program.run, program.memory, program.probe)],
        "volumes": [{"name": "cache", "emptyDir": {"sizeLimit": "4Gi"}}, {"name": "tmp", "emptyDir": {}}],
    }
    return _deployment(program.name, program.replicas, spec)


def _redis() -> Iterator[Manifest]:
    yield {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": REDIS, "namespace": NAMESPACE},
        "stringData": {"password": "change-me"},  # pragma: allowlist secret
    }
    yield _service(REDIS, REDIS_PORT, REDIS_PORT)
    command = ["sh", "-c", 'exec redis-server --appendonly yes --dir /data --requirepass "$PASSWORD"']
    spec = {
        "automountServiceAccountToken": False,
        "securityContext": {**pod_security(), "fsGroup": 1001},
        "containers": [
            {
                "name": "redis",
                "image": REDIS_IMAGE,
                "command": command,
                "env": [{"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": REDIS, "key": "password"}}}],
                "ports": [{"containerPort": REDIS_PORT}],
                "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}},
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                    "readOnlyRootFilesystem": True,
                },
                "volumeMounts": [{"name": "data", "mountPath": "/data"}],
            }
        ],
        "volumes": [{"name": "data", "emptyDir": {"sizeLimit": "1Gi"}}],
    }
    yield _deployment(REDIS, 1, spec)


def _deployment(name: str, replicas: int, spec: Manifest) -> Manifest:
    labels = {"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "olm-functions"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app.kubernetes.io/name": name}},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def _service(name: str, port: int, target: int) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "selector": {"app.kubernetes.io/name": name},
            "ports": [{"name": "tcp", "port": port, "targetPort": target}],
        },
    }


def _network_policies() -> Iterator[Manifest]:
    ours = {"matchLabels": {"app.kubernetes.io/part-of": "olm-functions"}}
    redis = {"matchLabels": {"app.kubernetes.io/name": REDIS}}
    endpoint = {"matchLabels": {"app.kubernetes.io/name": ENDPOINT}}
    watcher = {"matchLabels": {"app.kubernetes.io/name": WATCHER}}
    yield _policy("olmf-deny-ingress", ours, [])
    yield _policy(REDIS, redis, [{"from": [{"podSelector": ours}], "ports": [{"port": REDIS_PORT}]}])
    yield _policy(ENDPOINT, endpoint, [{"ports": [{"port": PORT}]}])
    yield _policy(f"{WATCHER}-metrics", watcher, [{"ports": [{"port": PORT}]}])


def _policy(name: str, selector: Manifest, ingress: list[Manifest]) -> Manifest:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"podSelector": selector, "policyTypes": ["Ingress"], "ingress": ingress},
    }
