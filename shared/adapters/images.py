"""The files of an image in a folder of their own, wherever the image is.

A reference is `registry/name:tag`, `registry/name@sha256:…`, `oci:DIR[:tag]` or `docker-archive:FILE[:tag]`. Every byte
is verified before it is used, sizes and counts are bounded, links are replaced by copies, and nothing lands outside.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, Final

from shared.adapters.oci import logins
from shared.adapters.oci.docker_archive import DockerArchive
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.image import pull
from shared.adapters.oci.layout import Layout
from shared.adapters.oci.limits import Limits
from shared.adapters.oci.local import ArchiveName, LayoutName, local_name
from shared.adapters.oci.origin import Name, Origin
from shared.adapters.oci.reference import Reference
from shared.adapters.oci.registry import Registry
from shared.adapters.progress import ended
from shared.domain.bundle.annotations import CONFIGS, DATABASE, PACKAGE

__all__ = ["OciError", "Unpacked", "folder_of", "origin_of", "unpacked"]

_CHUNK_BYTES: Final = 1024 * 1024
_DIRECTORY_MODE: Final = 0o700


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The files of an image, until the end of the block."""

    reference: str
    """The image by digest."""
    path: Path
    """The folder with the files of the image."""
    labels: Mapping[str, str]

    @property
    def catalog(self) -> Path | None:
        """The folder of the catalog in a catalog image; None for other images."""
        below = self.labels.get(CONFIGS, "").strip("/")
        return self.path / below if CONFIGS in self.labels else None

    @property
    def is_bundle(self) -> bool:
        """Whether its label says that it is a bundle; then `path` contains `manifests/` and `metadata/`."""
        return CONFIGS not in self.labels and PACKAGE in self.labels

    @property
    def is_database(self) -> bool:
        """Whether it is a catalog in the form of a database, which is no longer read."""
        return CONFIGS not in self.labels and PACKAGE not in self.labels and DATABASE in self.labels


@contextmanager
def folder_of(reference: str, registry: Registry | None = None, *, limits: Limits | None = None) -> Iterator[Path]:
    """A folder with the catalog of a catalog image, or with all files of another image. OciError when unreadable.

    `registry` brings credentials and settings; without it, those of the user are used.
    """
    with unpacked(reference, registry, limits=limits) as found:
        yield found.catalog or found.path


@contextmanager
def unpacked(
    reference: str | Reference, registry: Registry | None = None, *, limits: Limits | None = None
) -> Iterator[Unpacked]:
    """The labels and files of an image; of a catalog image only the catalog. OciError when it cannot be read."""
    with tempfile.TemporaryDirectory(prefix="olmf-image-") as folder:
        aside, root = Path(folder, "aside"), Path(folder, "root")
        aside.mkdir()
        with origin_of(reference, registry, limits=limits) as (origin, name):
            image = pull(origin, name, _desired, partial(_aside, aside, count()))
        ended()
        _lay_out(image.files, root)
        found = Unpacked(str(image.reference), root, image.labels)
        if found.catalog is not None and not found.catalog.is_dir():
            raise OciError("Malformed", f"{reference}: the label {CONFIGS} says that the catalog is in "
                           f"{image.labels[CONFIGS]!r}, where no file is; build the image again")  # fmt: skip
        yield found


@contextmanager
def origin_of(
    image: str | Reference, registry: Registry | None = None, *, limits: Limits | None = None
) -> Iterator[tuple[Origin[Any], Name]]:
    """The place of an image, of any kind, and its name there. OciError when a text is not a reference."""
    match image if isinstance(image, Reference) else local_name(image) or Reference.parse(image):
        case LayoutName() as name:
            yield Layout(limits), name
        case ArchiveName() as name:
            with DockerArchive.open(name, limits) as opened:
                yield opened, name
        case reference:
            yield registry or logins.registry_of_machine(os.environ, Path.home(), limits), reference


def _desired(labels: Mapping[str, str]) -> tuple[str, ...]:
    return (labels[CONFIGS].strip("/"),) if CONFIGS in labels else ("",)


def _aside(folder: Path, numbers: Iterator[int], stream: BinaryIO) -> Path:
    """Keep a file under a number until the whole image is verified."""
    path = folder / str(next(numbers))
    with path.open("wb") as copy:
        while chunk := stream.read(_CHUNK_BYTES):
            copy.write(chunk)
    return path


def _lay_out(files: Mapping[str, Path], root: Path) -> None:
    """Give the files their names, which were all checked to stay below the root."""
    root.mkdir()
    for name in sorted(files):
        path = root / name
        try:
            path.parent.mkdir(_DIRECTORY_MODE, parents=True, exist_ok=True)
            os.link(files[name], path)
        except OSError as error:
            raise OciError("Malformed", f"the image holds {name!r}, which this machine cannot hold: "
                           f"{error.strerror}; build the image again") from error  # fmt: skip
