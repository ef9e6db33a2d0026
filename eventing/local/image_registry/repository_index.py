"""What the registry serves: repositories, tags, manifests and blobs, found in folders."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from eventing.local.image_registry.folder import BundleFolder, BundlesCatalog, CatalogFolder, Folder
from shared.adapters.oci.build import Built
from shared.adapters.oci.verify import digest_of

_NOT_IN_NAME: Final = re.compile(r"[^a-z0-9.-]+")
_NOT_IN_TAG: Final = re.compile(r"[^A-Za-z0-9_.-]")


@dataclass(frozen=True, slots=True)
class Sources:
    """The folders to serve."""

    bundles: tuple[Path, ...] = ()
    """Each with `<package>/<version>/{manifests,metadata}`; all of them make the catalog `local`."""
    catalogs: Mapping[str, Path] = field(default_factory=dict)
    """Catalog files by the name they are served under, `catalogs/<name>:latest`."""


class RepositoryIndex:
    """Looks into the folders at every question, so that new and changed ones are served at once."""

    def __init__(self, sources: Sources, host: str, log: Callable[[str], None] = lambda _: None) -> None:
        self._sources = sources
        self._bundles: dict[Path, BundleFolder] = {}
        self._catalogs: dict[Folder, tuple[Path, ...]] = {
            CatalogFolder(root, f"catalogs/{name_of(name)}", "latest"): (root,)
            for name, root in sources.catalogs.items()
        }
        if sources.bundles:
            self._catalogs[BundlesCatalog(host, self._present, log)] = sources.bundles

    def repositories(self) -> list[str]:
        """All names."""
        return sorted({folder.repository for folder in self._folders()})

    def tags(self, repository: str) -> list[str]:
        """All tags of a name; none when there is no such name."""
        return sorted(folder.tag for folder in self._folders() if folder.repository == repository)

    def image(self, repository: str, desired: str) -> Built | None:
        """The image of a tag or a digest."""
        is_digest = desired.startswith("sha256:")
        for folder in self._folders():
            if folder.repository == repository and (is_digest or folder.tag == desired):
                image = folder.image()
                if not is_digest or image.digest == desired:
                    return image
        return None

    def blob(self, repository: str, digest: str) -> bytes | None:
        """The blob of a digest; None, too, when the folder changed since its manifest was read."""
        for folder in self._folders():
            if folder.repository != repository:
                continue
            image = folder.image()
            if digest == image.config_descriptor.digest:
                return image.config
            if digest == image.layer.descriptor.digest and digest_of(layer := folder.layer()) == digest:
                return layer
        return None

    def _folders(self) -> Iterator[Folder]:
        # a catalog of which a folder is gone is not an empty one: it would take everything from its users
        yield from (folder for folder, roots in self._catalogs.items() if all(root.is_dir() for root in roots))
        yield from self._present()

    def _present(self) -> list[BundleFolder]:
        folders = (folder for root in self._sources.bundles for folder in sorted(root.glob("*/*")))
        known = self._bundles
        self._bundles = {
            folder: known.get(folder) or _bundle(folder) for folder in folders if (folder / "manifests").is_dir()
        }
        return list(self._bundles.values())


def _bundle(folder: Path) -> BundleFolder:
    return BundleFolder(folder, f"bundles/{name_of(folder.parent.name)}", _NOT_IN_TAG.sub("-", folder.name))


def name_of(text: str) -> str:
    """What a folder is called in repositories, and as a CatalogSource."""
    return _NOT_IN_NAME.sub("-", text.lower()).strip(".-") or "unnamed"
