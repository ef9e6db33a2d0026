"""The options of `olmf up`, and the names of its catalogs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from eventing.local.image_registry.repository_index import name_of
from eventing.local.state import StateDirectory
from shared.kinds import CATALOG_SOURCE, Ref

LOCAL_CATALOG = "local"
"""CatalogSource of the bundles given with `--bundles`."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The options of `olmf up`."""

    state: StateDirectory
    bundles: tuple[Path, ...] = ()
    catalogs: tuple[str, ...] = ()
    """Folders or image references."""
    kubeconfig: Path | None = None
    """The kubeconfig of an existing cluster; None for the sandbox."""
    source: Literal["watch", "endpoint"] = "watch"
    namespace: str = "olm"
    take_over: bool = False

    def fault(self) -> str:
        """The reason why these options are not valid; empty when they are."""
        for folder in self.bundles:
            if not folder.is_dir():
                return f"--bundles {folder}: no such folder"
        for catalog in self.catalogs:
            if catalog.startswith((".", "/", "~")) and not Path(catalog).is_dir():
                return f"--catalog {catalog}: no such folder"
        if self.kubeconfig and not self.kubeconfig.exists():
            return f"--kubeconfig {self.kubeconfig}: no such file"
        named = [LOCAL_CATALOG] * bool(self.bundles) + [name_of_catalog(catalog) for catalog in self.catalogs]
        twice = next((name for name in named if named.count(name) > 1), "")
        return f"two catalogs would be called {twice!r}: rename a folder" if twice else ""

    def words(self) -> list[str]:
        """The arguments of `olmf` that mean these options."""
        kubeconfig = ["--kubeconfig", str(self.kubeconfig)] if self.kubeconfig else []
        return [
            *("up", "--state", str(self.state.root), "--source", self.source),
            *repeated("--bundles", self.bundles),
            *repeated("--catalog", self.catalogs),
            *kubeconfig,
            *(["--take-over"] if self.take_over else []),
        ]

    def folders(self) -> dict[str, Path]:
        """The catalogs that are folders, by name."""
        return {name_of_catalog(catalog): Path(catalog) for catalog in self.catalogs if Path(catalog).is_dir()}

    def images(self) -> dict[str, str]:
        """The catalogs that are images, by name."""
        return {name_of_catalog(catalog): catalog for catalog in self.catalogs if not Path(catalog).is_dir()}

    def served(self) -> dict[Ref, tuple[Path, ...]]:
        """The CatalogSources whose images are made from local folders, with the folders."""
        named = {LOCAL_CATALOG: self.bundles} if self.bundles else {}
        named |= {name: (folder,) for name, folder in self.folders().items()}
        return {CATALOG_SOURCE.ref(name, self.namespace): folders for name, folders in named.items()}


def name_of_catalog(catalog: str) -> str:
    """Name of the CatalogSource of a folder or an image."""
    if Path(catalog).is_dir():
        return name_of(Path(catalog).resolve().name)
    return name_of(catalog.partition("@")[0].rpartition("/")[2].partition(":")[0])


def repeated(option: str, values: Iterable[object]) -> list[str]:
    """The words that give an option once for each value."""
    return [word for value in values for word in (option, str(value))]
