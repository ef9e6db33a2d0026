"""Remembers which folders an installation serves: its catalogs stay in the cluster when it is stopped."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from eventing.local.state import StateDirectory, read_json, write_json


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


@dataclass(frozen=True, slots=True)
class _Note:
    """The content of `served.json`."""

    kubeconfig: str
    bundles: list[str]
    catalogs: list[str]


def remember(state: StateDirectory, served: Served, kubeconfig: Path | None) -> None:
    """Write down what is served to a cluster (None: the sandbox); nothing served changes nothing."""
    if served == Served():
        return
    bundles, catalogs = ([str(path.resolve()) for path in paths] for paths in (served.bundles, served.catalogs))
    write_json(_file(state), asdict(_Note(str(kubeconfig or ""), bundles, catalogs)))


def recall(state: StateDirectory, kubeconfig: Path | None) -> Served:
    """What was served last to this cluster, as far as it is still there. ForeignFileError."""
    note = read_json(_file(state), _Note)
    if note is None or note.kubeconfig != str(kubeconfig or ""):
        return Served()
    return Served(tuple(map(Path, note.bundles)), tuple(map(Path, note.catalogs))).present()


def is_without_bundles(folder: Path) -> bool:
    """No `<package>/<version>/manifests` is below it, yet: they are served as soon as they come."""
    return not any(path.is_dir() for path in folder.glob("*/*/manifests"))


def _file(state: StateDirectory) -> Path:
    return state.root / "served.json"
