"""The Redis of an installation; its content may be lost at any time.

Decisions:
- It refuses writes at 55 % of its memory limit. The kernel would end it at the limit, and three things are not part of
  `maxmemory`: fragments (25 %, measured), pages that are copied while it rewrites its file (60 MB), and its buffers.
  Full and written to at 30 MB/s it needs 290 MB; with 70 % the kernel ended it.
- It stores each command in a file, so that a container that is restarted goes on with queue and journal; a node that
  fails may lose the last seconds, for to wait for the disk would let its buffer grow. It makes no snapshots: they would
  double what it writes, and stop all writes when one fails.
- A server that ended before it was ready begins without that file, which may be what ended it.

Turned down: no file at all (each restart would cost the journal, and five minutes until the audit finds what was
queued), a volume of its own (the content is not worth one), eviction (it would lose jobs).
"""

from __future__ import annotations

from collections.abc import Iterator

from eventing.deploy.pods import USER, confined, deployment, probe, service, start_probe
from shared.api.manifest import Manifest

IMAGE = "redis:8.2.2-alpine"
REDIS = "olmf-redis"
"""The Deployment, its Service, and the Secret with the password, which the administrator creates."""
REDIS_PORT = 6379
LIMIT_MIB = 320
MAXMEMORY_PERCENT = 55
FLAGS = (
    *("--maxmemory", f"{LIMIT_MIB * MAXMEMORY_PERCENT // 100}mb"),
    *("--maxmemory-policy", "noeviction"),
    *("--save", ""),
    *("--appendonly", "yes"),
    *("--appendfsync", "no"),
    *("--auto-aof-rewrite-percentage", "100"),
    *("--auto-aof-rewrite-min-size", "32mb"),
)
START = """\
: "${PASSWORD:?the Secret has no password}"
if [ -e starting ]; then rm -rf appendonlydir; fi
touch starting
password=$(printf %s "$PASSWORD" | od -An -v -tx1 | tr -d '\\n' | sed 's/ /\\\\x/g')
exec redis-server - --dir . "$@" <<END
requirepass "$password"
END
"""
"""Runs in the folder of its data. The password, whatever letters it has, comes on standard input: a command line can be
read by everybody on the node."""
_PING = 'REDISCLI_AUTH="$PASSWORD" redis-cli ping | grep -q PONG'


def redis() -> Iterator[Manifest]:
    """The objects of Redis."""
    yield service(REDIS, REDIS_PORT, REDIS_PORT, "tcp")
    container = {
        "name": "redis",
        "image": IMAGE,
        "command": ["sh", "-c", START, "redis"],
        "args": list(FLAGS),
        "workingDir": "/data",
        "env": [{"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": REDIS, "key": "password"}}}],
        "ports": [{"name": "tcp", "containerPort": REDIS_PORT, "protocol": "TCP"}],
        "startupProbe": start_probe(_shell(f"{_PING} && rm -f starting")),
        "livenessProbe": probe(_shell(_PING), every=10, failures=6),
        "readinessProbe": probe(_shell(_PING), every=5, failures=2),
        **confined(f"{LIMIT_MIB}Mi"),
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


def _shell(words: str) -> Manifest:
    return {"exec": {"command": ["sh", "-c", words]}}
