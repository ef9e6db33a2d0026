"""The folders that an installation serves, stored because its catalogs stay in the cluster; and their faults."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from eventing.local.state import StateDirectory, read_json, write_json
from shared import names


@dataclass(frozen=True, slots=True)
class Served:
    """The served folders, as absolute paths."""

    bundles: tuple[Path, ...] = ()
    catalogs: tuple[Path, ...] = ()

    def present(self) -> Served:
        """The folders that still exist."""
        return Served(*(tuple(path for path in paths if path.is_dir()) for paths in (self.bundles, self.catalogs)))

    def __str__(self) -> str:
        return ", ".join(map(str, (*self.bundles, *self.catalogs)))


@dataclass(frozen=True, slots=True)
class _Note:
    """The content of `served.json`."""

    kubeconfig: str
    bundles: list[str]
    catalogs: list[str]


def remember(state: StateDirectory, served: Served, kubeconfig: Path | None) -> None:
    """Store the folders that are served to a cluster (None: the sandbox), if there are any."""
    if served == Served():
        return
    bundles, catalogs = ([str(path.resolve()) for path in paths] for paths in (served.bundles, served.catalogs))
    write_json(_file(state), asdict(_Note(str(kubeconfig or ""), bundles, catalogs)))


def recall(state: StateDirectory, kubeconfig: Path | None) -> Served:
    """The folders last served to this cluster that still exist. ForeignFileError."""
    note = read_json(_file(state), _Note)
    if note is None or note.kubeconfig != str(kubeconfig or ""):
        return Served()
    return Served(tuple(map(Path, note.bundles)), tuple(map(Path, note.catalogs))).present()


def is_without_bundles(folder: Path) -> bool:
    """Whether a folder has no `<package>/<version>/manifests`; bundles that are added later are served."""
    return not any(path.is_dir() for path in folder.glob("*/*/manifests"))


def _file(state: StateDirectory) -> Path:
    return state.root / "served.json"


READ_SECONDS = 30.0
"""Timeout; the first request reads the whole folder."""


def unserved_bundles(registry: str, catalog: str) -> tuple[str, ...]:
    """A message for each bundle that the registry does not serve. OSError when it does not answer."""
    url = f"http://{registry}/v2/catalogs/{catalog}"
    manifest = json.loads(_get(f"{url}/manifests/latest"))
    config = json.loads(_get(f"{url}/blobs/{manifest['config']['digest']}"))
    return tuple(json.loads(config["config"]["Labels"].get(names.LEFT_OUT, "[]")))


def _get(url: str) -> bytes:
    import urllib3

    try:
        response = urllib3.request("GET", url, timeout=READ_SECONDS, retries=False)
    except urllib3.exceptions.HTTPError as error:
        raise OSError(f"{url}: {error}") from error
    if response.status != 200:
        raise OSError(f"{url}: {response.status}")
    return response.data
