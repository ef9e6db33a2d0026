"""Writes the Secrets and ConfigMaps that a Pod mounts into a folder that stands for the root of its container."""

from __future__ import annotations

import base64
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from eventing.local.kubelet.pods import container_of
from eventing.local.state import is_alive
from shared.api.manifest import ReadOnly, namespace_of
from shared.kinds import CONFIG_MAP, SECRET
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


def mounts_of(pod: ReadOnly) -> dict[str, ReadOnly]:
    """The volumes with Secrets and ConfigMaps that the last container mounts, by their paths."""
    volumes = {volume.get("name"): volume for volume in (pod.get("spec") or {}).get("volumes") or ()}
    return {
        str(mount["mountPath"]): volumes[mount["name"]]
        for mount in container_of(pod).get("volumeMounts") or ()
        if mount["name"] in volumes and any(list(_sources(volumes[mount["name"]])))
    }


def mount_volumes(cluster: Cluster, pod: ReadOnly, root: Path) -> None:
    """Write the mounted Secrets and ConfigMaps; one that does not exist is an empty folder: it was optional.

    FileNotFoundError when the root is gone: who runs this in a thread has ended then, and removed it.
    """
    for mount, volume in mounts_of(pod).items():
        folder = place_below(root, mount)
        _make(folder, root)
        for source, paths in _sources(volume):
            for key, value in _content(cluster, namespace_of(pod), *source).items():
                if not paths or key in paths:
                    file = place_below(folder, paths.get(key, key))
                    _make(file.parent, root)
                    file.write_bytes(value)


def environment_of(cluster: Cluster, pod: ReadOnly) -> dict[str, str]:
    """The variables that the last container gets by value, and of Secrets and ConfigMaps."""
    container, namespace = container_of(pod), namespace_of(pod)
    found: dict[str, str] = {}
    for source in container.get("envFrom") or ():
        for kind, field in ((SECRET, "secretRef"), (CONFIG_MAP, "configMapRef")):
            if name := (source.get(field) or {}).get("name"):
                content = _content(cluster, namespace, kind.kind, str(name))
                found |= {f"{source.get('prefix', '')}{key}": value.decode() for key, value in content.items()}
    for entry in container.get("env") or ():
        if entry.get("value"):
            found[entry["name"]] = entry["value"]
        for kind, field in ((SECRET, "secretKeyRef"), (CONFIG_MAP, "configMapKeyRef")):
            if reference := (entry.get("valueFrom") or {}).get(field):
                content = _content(cluster, namespace, kind.kind, str(reference.get("name")))
                if reference.get("key") in content:
                    found[entry["name"]] = content[str(reference["key"])].decode()
    return found


def place_below(root: Path, path: str) -> Path:
    """Where an absolute path of a container is on this machine."""
    return root / os.path.normpath(f"/{path}").lstrip("/")  # why: `..` does not lead out of the root


def _make(folder: Path, root: Path) -> None:
    """Make a folder below the root with all between, but never the root, which would hold Secrets for ever."""
    for each in reversed([folder, *folder.parents]):
        if each.is_relative_to(root) and each != root:
            each.mkdir(exist_ok=True)


def _sources(volume: ReadOnly) -> Iterator[tuple[tuple[str, str], dict[str, str]]]:
    """Kind and name of each source of a volume, and the paths of its keys, where it gives some."""
    for each in (volume, *((volume.get("projected") or {}).get("sources") or ())):
        for kind, field in ((SECRET, "secret"), (CONFIG_MAP, "configMap")):
            source: ReadOnly = each.get(field) or {}
            if name := source.get("secretName") or source.get("name"):
                yield (kind.kind, str(name)), {item["key"]: item["path"] for item in source.get("items") or ()}


def _content(cluster: Cluster, namespace: str, kind: str, name: str) -> dict[str, bytes]:
    if kind == SECRET.kind:
        secret = SECRET.look_up(cluster.get, name, namespace) or {}
        return {key: base64.b64decode(value) for key, value in (secret.get("data") or {}).items()}
    found = CONFIG_MAP.look_up(cluster.get, name, namespace) or {}
    binary = {key: base64.b64decode(value) for key, value in (found.get("binaryData") or {}).items()}
    return {key: value.encode() for key, value in (found.get("data") or {}).items()} | binary
