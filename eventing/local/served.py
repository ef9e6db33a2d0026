"""Remembers which folders an installation serves: its catalogs stay in the cluster when it is stopped."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from eventing.local.state import StateDirectory, write_json


@dataclass(frozen=True, slots=True)
class Served:
    """Folders, absolute."""

    bundles: tuple[Path, ...] = ()
    catalogs: tuple[Path, ...] = ()

    def present(self) -> Served:
        """Those that are still there."""
        return Served(*(tuple(path for path in paths if path.is_dir()) for paths in (self.bundles, self.catalogs)))

    def __str__(self) -> str:
        return ", ".join(map(str, (*self.bundles, *self.catalogs)))


def remember(state: StateDirectory, served: Served, kubeconfig: Path | None) -> None:
    """Write down what is served to a cluster (None: the sandbox); nothing served changes nothing."""
    if served == Served():
        return
    folders = {"bundles": served.bundles, "catalogs": served.catalogs}
    note = {key: [str(path.resolve()) for path in paths] for key, paths in folders.items()}
    write_json(_file(state), {**note, "kubeconfig": str(kubeconfig or "")})


def recall(state: StateDirectory, kubeconfig: Path | None) -> Served:
    """What was served last to this cluster, as far as it is still there."""
    try:
        note = json.loads(_file(state).read_text())
    except FileNotFoundError:
        return Served()
    if note["kubeconfig"] != str(kubeconfig or ""):
        return Served()
    bundles, catalogs = (tuple(map(Path, note[key])) for key in ("bundles", "catalogs"))
    return Served(bundles, catalogs).present()


def is_without_bundles(folder: Path) -> bool:
    """No `<package>/<version>/manifests` is below it, yet: they are served as soon as they come."""
    return not any(path.is_dir() for path in folder.glob("*/*/manifests"))


def _file(state: StateDirectory) -> Path:
    return state.root / "served.json"
