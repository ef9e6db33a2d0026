"""The program of an unpack Job: a bundle image in, a filled ConfigMap out (catalog.md §5.5)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Protocol

import orjson

from shared.adapters.content.bundles import LIMITS, payload_of
from shared.adapters.kube import ApiError, ConnectionSettingError, KubeClient
from shared.adapters.oci import mirror_sets
from shared.adapters.oci.credentials import Credentials, Login
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.logins import mirrors_of_machine
from shared.adapters.oci.mirrors import Mirrors
from shared.adapters.oci.reference import Reference
from shared.adapters.oci.registry import Registry
from shared.adapters.oci.transport import Transport
from shared.adapters.oci.trust import Trust
from shared.api.manifest import Manifest, annotations_of
from shared.kinds import Ref

PULL_SECRETS: Final = Path("/var/run/olmf/pull")
"""Folder where the Job mounts the pull secrets, one folder for each."""
_ATTEMPTS: Final = 5
_MESSAGE_BYTES: Final = 4096
"""Maximum size of the termination message of a container, in bytes."""


class ConfigMaps(Protocol):
    """The Kubernetes API as unpacking needs it."""

    def get(self, ref: Ref) -> Manifest | None:
        """The object, or None when it does not exist."""
        ...

    def replace(self, manifest: Manifest) -> Manifest:
        """PUT."""
        ...


def main(image: str, config_map: Ref, mirrors: str = "[]") -> int:
    """Unpack the image; returns 0, or 1 after one sentence on stderr, which becomes the termination message.

    `mirrors` is a JSON list: what the mirror sets of the cluster say about the image.
    """
    try:
        registry = Registry(Transport(trust=Trust.of(os.environ)), _credentials(), LIMITS, mirrors=_mirrors(mirrors))
        payload = payload_of(image, registry, Reference.parse(image))
        kubeconfig = os.environ.get("OLMF_KUBECONFIG") or os.environ.get("KUBECONFIG", "")
        cluster = KubeClient.from_kubeconfig(kubeconfig, agent="olmf/unpack")
        fill(cluster, config_map, payload)
    except (OciError, ApiError, ConnectionSettingError) as error:
        sys.stderr.write(str(error)[:_MESSAGE_BYTES] + "\n")
        return 1
    return 0


def fill(cluster: ConfigMaps, ref: Ref, payload: Manifest) -> None:
    """Write the payload into the ConfigMap, which must exist; no write when it has this content already."""
    for attempt in range(1, _ATTEMPTS + 1):
        present = cluster.get(ref)
        if present is None:
            raise ApiError(404, "NotFound", f'configmaps "{ref.name}" not found in namespace {ref.namespace}: the Job '
                           "outlived what it was made for")  # fmt: skip
        desired = filled(present, payload)
        if desired == present:
            return
        try:
            cluster.replace(desired)
        except ApiError as error:
            if not error.is_conflict or attempt == _ATTEMPTS:
                raise
        else:
            return


def filled(present: Manifest, payload: Manifest) -> Manifest:
    """The ConfigMap with the content of the payload; other annotations are kept."""
    annotations = annotations_of(present) | payload["annotations"]
    desired = {key: value for key, value in present.items() if key != "data"}
    return desired | {
        "metadata": {**present["metadata"], "annotations": annotations},
        "binaryData": payload["binaryData"],
    }


def _mirrors(text: str) -> Mirrors:
    try:
        return mirrors_of_machine(os.environ, Path.home()).over(mirror_sets.of_objects(orjson.loads(text)))
    except (ValueError, AttributeError) as error:  # AttributeError: an element that is not an object
        raise OciError("Malformed", f"--mirrors {text[:200]}: wanted a list of mirror sets in JSON: {error}") from error


def _credentials() -> Credentials:
    logins: dict[str, Login] = {}
    for path in _login_files():
        logins = {**Credentials.of_config(path.read_bytes()).logins, **logins}
    return Credentials(logins)


def _login_files() -> Iterator[Path]:
    """The mounted pull secrets; then, outside a cluster, the user's own login files."""
    # why: outside a cluster the simulated kubelet mounts them in a folder of its own
    mounted = Path(os.environ.get("OLMF_VOLUMES") or "/") / PULL_SECRETS.relative_to("/")
    yield from sorted(path for path in mounted.glob("*/.docker*") if path.is_file())
    folder = Path(os.environ.get("DOCKER_CONFIG") or Path.home() / ".docker") / "config.json"
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or "/nonexistent") / "containers" / "auth.json"
    yield from (path for path in (folder, runtime) if path.is_file())
