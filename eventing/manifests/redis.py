"""The Redis of an installation; its content may be lost at any time."""

from __future__ import annotations

from collections.abc import Iterator

from eventing.manifests.pods import USER, confined, deployment, service
from shared.api.manifest import Manifest

IMAGE = "redis:8.2.2-alpine"
REDIS = "olmf-redis"
"""The Deployment, its Service, and the Secret with the password, which the administrator creates."""
REDIS_PORT = 6379
_START = 'exec redis-server --appendonly yes --dir /data --requirepass "$PASSWORD"'
_PING = 'REDISCLI_AUTH="$PASSWORD" redis-cli ping | grep -q PONG'


def redis() -> Iterator[Manifest]:
    """The objects of Redis."""
    yield service(REDIS, REDIS_PORT, REDIS_PORT, "tcp")
    probe = {"exec": {"command": ["sh", "-c", _PING]}, "timeoutSeconds": 5}
    container = {
        "name": "redis",
        "image": IMAGE,
        "command": ["sh", "-c", _START],
        "env": [{"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": REDIS, "key": "password"}}}],
        "ports": [{"containerPort": REDIS_PORT}],
        "livenessProbe": probe,
        "readinessProbe": dict(probe),
        **confined("256Mi"),
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    spec = {
        "automountServiceAccountToken": False,
        "securityContext": {"fsGroup": USER},
        "containers": [container],
        "volumes": [{"name": "data", "emptyDir": {"sizeLimit": "1Gi"}}],
    }
    # why Recreate: two queues behind one Service would each have half of the jobs
    yield deployment(REDIS, spec, replicas=1, strategy={"type": "Recreate"})
