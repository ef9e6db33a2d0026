"""Secret volumes of a Job, as files in a folder that mirrors the container's file system."""

from __future__ import annotations

import base64
import os
import shutil
import tempfile
from pathlib import Path

from eventing.kubelet.jobs import Task
from eventing.local.state import is_alive
from shared.kinds import SECRET
from shared.ports import Cluster

VOLUMES = "OLMF_VOLUMES"
"""Tells a program that its mounts are not at `/` but below this folder."""
_PREFIX = "olmf-kubelet-"


def own_folder(parent: str = "") -> Path:
    """A new private folder; those of processes that ended without a chance to tidy up are removed, Secrets and all."""
    parent = parent or tempfile.gettempdir()
    for left in Path(parent).glob(f"{_PREFIX}*-*"):
        pid = left.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdigit() and not is_alive(int(pid)):
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent))


def mount_secrets(cluster: Cluster, task: Task, root: Path) -> None:
    """Write the Secrets that exist; a missing one is an empty folder, as an optional volume is."""
    for name, mount in task.secrets.items():
        folder = root / os.path.normpath(f"/{mount}").lstrip("/")  # why: `..` ends at the root, as in a container
        folder.mkdir(parents=True, exist_ok=True)
        secret = cluster.get(SECRET.ref(name, task.ref.namespace)) or {}
        for key, value in (secret.get("data") or {}).items():
            (folder / key).write_bytes(base64.b64decode(value))
