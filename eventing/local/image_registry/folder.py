"""Folders of this machine as images, built when they are asked for and again when a file changed."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import RLock
from typing import Final, Generic, TypeAlias, TypeVar

import orjson

from shared.adapters.judging import judge_alone
from shared.adapters.oci.build import Built, build
from shared.domain.authoring.from_bundles import Offer, Published, from_bundles, offer
from shared.domain.bundle.annotations import CONFIGS
from shared.domain.bundle.annotations import parse as parse_annotations
from shared.domain.bundle.model import BadBundle
from shared.domain.bundle.parse import parse as parse_bundle
from shared.domain.go import yaml as goyaml
from shared.names import LEFT_OUT

State: TypeAlias = tuple[object, ...]
"""Equal while no file changed."""
_T = TypeVar("_T")


class MadeOfFiles(Generic[_T]):
    """A value made of files, made again only when they changed."""

    def __init__(self, make: Callable[[], _T]) -> None:
        self._make = make
        self._made: tuple[State, _T] | None = None
        self._lock = RLock()

    def get(self, state: State) -> _T:
        """The value for a state of the files."""
        with self._lock:
            if self._made is None or self._made[0] != state:
                self._made = (state, self._make())
            return self._made[1]


def files_below(root: Path) -> Iterator[Path]:
    """All files of a folder, in name order."""
    for folder, names, files in os.walk(root):
        names.sort()
        yield from filter(os.path.isfile, (Path(folder, name) for name in sorted(files)))


def state_of(root: Path) -> State:
    """Path, time of change and size of every file."""
    found = []
    for path in files_below(root):
        with suppress(OSError):  # it went while we looked
            status = path.stat()
            found.append((str(path), status.st_mtime_ns, status.st_size))
    return tuple(found)


class Folder(ABC):
    """Something that is served as `<repository>:<tag>`."""

    def __init__(self, repository: str, tag: str) -> None:
        self.repository, self.tag = repository, tag
        self._image = MadeOfFiles(self._build)

    @abstractmethod
    def state(self) -> State:
        """Equal while no file changes."""

    @abstractmethod
    def files(self) -> dict[str, bytes]:
        """Content by path inside the image."""

    @abstractmethod
    def labels(self, files: Mapping[str, bytes]) -> Mapping[str, str]:
        """The labels of the image with these files."""

    def image(self) -> Built:
        """The image as the files are now; its layer is not held."""
        return self._image.get(self.state())

    def layer(self) -> bytes:
        """The only layer of the image, made again."""
        return _packed(self.files(), {})[1]

    def _build(self) -> Built:
        files = self.files()
        return _packed(files, self.labels(files))[0]


def _packed(files: Mapping[str, bytes], labels: Mapping[str, str]) -> tuple[Built, bytes]:
    """An image, and its layer. On loopback, compressing costs more than it saves."""
    with TemporaryDirectory(prefix="olmf-image-") as folder:
        aside = Path(folder, "layer")
        return build(files, labels, aside, is_compressed=False), aside.read_bytes()


class BundleFolder(Folder):
    """A folder with `manifests/` and `metadata/`."""

    def __init__(self, root: Path, repository: str, tag: str) -> None:
        super().__init__(repository, tag)
        self._root = root
        self._offer = MadeOfFiles(self._read)

    def offer(self) -> tuple[Offer | None, tuple[str, ...]]:
        """What a catalog says about the files as they are now (None: they are no bundle), and what is wrong in them."""
        return self._offer.get(self.state())

    def state(self) -> State:
        """Of all files of the bundle."""
        return state_of(self._root)

    def files(self) -> dict[str, bytes]:
        """Manifests and metadata; what else lies there is not served."""
        return {
            path.relative_to(self._root).as_posix(): path.read_bytes()
            for directory in ("manifests", "metadata")
            for path in files_below(self._root / directory)
        }

    def labels(self, files: Mapping[str, bytes]) -> Mapping[str, str]:
        """The six annotations of the bundle; none where it has none, which the catalog then says."""
        try:
            found = parse_annotations(goyaml.load_value(files.get("metadata/annotations.yaml", b"")))
        except goyaml.YamlError:
            return {}
        return (found.labels if found else None) or {}

    def _read(self) -> tuple[Offer | None, tuple[str, ...]]:
        parsed = parse_bundle(self.files(), str(self))
        return (None, (parsed.message,)) if isinstance(parsed, BadBundle) else (offer(parsed), parsed.warnings)

    def __str__(self) -> str:
        return str(self._root)


_FINDINGS: Final = 10
"""As many sentences about what is wrong in it are carried by a catalog."""


def _catalog_labels(wrong: Sequence[str]) -> dict[str, str]:
    """Where the files of a catalog are, and what cannot be used of it."""
    findings = [*wrong[:_FINDINGS], *([f"and {more} more"] if (more := len(wrong) - _FINDINGS) > 0 else [])]
    return {CONFIGS: "/configs", **({LEFT_OUT: orjson.dumps(findings).decode()} if findings else {})}


class CatalogFolder(Folder):
    """A folder of catalog files, served as it is."""

    def __init__(self, root: Path, repository: str, tag: str) -> None:
        super().__init__(repository, tag)
        self._root = root

    def state(self) -> State:
        """Of all files of the catalog."""
        return state_of(self._root)

    def files(self) -> dict[str, bytes]:
        """Every file, below `configs/`."""
        return {
            f"configs/{path.relative_to(self._root).as_posix()}": path.read_bytes() for path in files_below(self._root)
        }

    def labels(self, _: Mapping[str, bytes]) -> Mapping[str, str]:
        """Where the catalog is, and what is wrong with its files."""
        return _catalog_labels(judge_alone(self._root).sentences())


class BundlesCatalog(Folder):
    """The catalog made of all served bundles, which names their images by digest."""

    def __init__(self, host: str, bundles: Callable[[], Sequence[BundleFolder]], log: Callable[[str], None]) -> None:
        super().__init__("catalogs/local", "latest")
        self._host, self._bundles, self._log = host, bundles, log
        self._reported: tuple[str, ...] = ()

    def state(self) -> State:
        """Of all files of all bundles."""
        return tuple(bundle.state() for bundle in self._bundles())

    def files(self) -> dict[str, bytes]:
        """A file per package, a document per line; bundles that cannot be offered are left out."""
        published: list[Published] = []
        findings: list[str] = []
        for folder in self._bundles():
            found, wrong = folder.offer()
            findings += wrong
            if found is not None:
                image = f"{self._host}/{folder.repository}@{folder.image().digest}"
                published.append(Published(found, image, str(folder)))
        documents, unusable = from_bundles(published)
        self._log_new((*findings, *unusable))
        files: dict[str, bytes] = {}
        for document in documents:
            path = f"configs/{document.get('package') or document['name']}/catalog.json"
            files[path] = files.get(path, b"") + orjson.dumps(document) + b"\n"
        return files

    def labels(self, _: Mapping[str, bytes]) -> Mapping[str, str]:
        """Where the catalog is, and what is wrong with the bundles that its files were made of."""
        return _catalog_labels(self._reported)

    def _log_new(self, findings: tuple[str, ...]) -> None:
        for finding in findings:
            if finding not in self._reported:
                self._log(finding)
        self._reported = findings
