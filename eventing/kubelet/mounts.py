"""Writes the Secrets that a Job mounts into a folder that stands for the root of its container."""

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
"""The variable with the folder that a program takes for the root of its mounts."""
_PREFIX = "olmf-kubelet-"


def own_folder(parent: str = "") -> Path:
    """A new private folder; the folders of processes that were killed are removed, because they contain Secrets."""
    parent = parent or tempfile.gettempdir()
    for left in Path(parent).glob(f"{_PREFIX}*-*"):
        pid = left.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdigit() and not is_alive(int(pid)):
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent))


def mount_secrets(cluster: Cluster, task: Task, root: Path) -> None:
    """Write the mounted Secrets; one that does not exist becomes an empty folder, as with an optional volume."""
    for name, mount in task.secrets.items():
        folder = root / os.path.normpath(f"/{mount}").lstrip("/")  # why: `..` does not lead out of the root
        folder.mkdir(parents=True, exist_ok=True)
        secret = SECRET.look_up(cluster.get, name, task.ref.namespace) or {}
        for key, value in (secret.get("data") or {}).items():
            (folder / key).write_bytes(base64.b64decode(value))
