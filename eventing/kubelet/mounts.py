"""Secret volumes of a Job, as files in a folder that mirrors the container's file system."""

from __future__ import annotations

import base64
from pathlib import Path

from eventing.kubelet.jobs import Task
from shared.kinds import SECRET
from shared.ports import Cluster

VOLUMES = "OLMF_VOLUMES"
"""Tells a program that its mounts are not at `/` but below this folder."""


def mount_secrets(cluster: Cluster, task: Task, root: Path) -> None:
    """Write the Secrets that exist; a missing one is an empty folder, as an optional volume is."""
    for name, mount in task.secrets.items():
        folder = root / mount.lstrip("/")
        folder.mkdir(parents=True)
        secret = cluster.get(SECRET.ref(name, task.ref.namespace)) or {}
        for key, value in (secret.get("data") or {}).items():
            (folder / key).write_bytes(base64.b64decode(value))
