"""Images made of files without a container engine: the same files and labels give the same bytes."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final, TypeAlias, cast

import orjson

from shared.adapters.oci.verify import CHUNK_BYTES, Descriptor, digest_of
from shared.adapters.progress import advanced

MANIFEST_TYPE: Final = "application/vnd.oci.image.manifest.v1+json"
CONFIG_TYPE: Final = "application/vnd.oci.image.config.v1+json"
LAYER_TYPE: Final = "application/vnd.oci.image.layer.v1.tar"
GZIP_TYPE: Final = LAYER_TYPE + "+gzip"
_FILE_MODE, _FOLDER_MODE = 0o644, 0o755
_GZIP_LEVEL: Final = 6
_EPOCH: Final = "1970-01-01T00:00:00Z"

Files: TypeAlias = Mapping[str, bytes | Path]
"""Content, or the file that holds it, by path in the image."""


@dataclass(frozen=True, slots=True)
class Blob:
    """A part of an image that is a file of this machine."""

    descriptor: Descriptor
    path: Path


@dataclass(frozen=True, slots=True)
class Built:
    """An image of one layer."""

    digest: str
    manifest: bytes
    config: bytes
    layer: Blob
    diff_id: str
    """The digest of the layer before it is compressed."""

    @property
    def config_descriptor(self) -> Descriptor:
        """Of the configuration."""
        return Descriptor(digest_of(self.config), len(self.config))


class _Hashing:
    """Hands on what is written and knows its digest and size."""

    def __init__(self, target: BinaryIO) -> None:
        self._target, self._seen, self.size = target, hashlib.sha256(), 0

    def write(self, content: bytes) -> int:
        self._seen.update(content)
        self.size += len(content)
        return self._target.write(content)

    def flush(self) -> None:
        self._target.flush()

    @property
    def digest(self) -> str:
        return "sha256:" + self._seen.hexdigest()


def build(files: Files, labels: Mapping[str, str], aside: Path, *, is_compressed: bool = True) -> Built:
    """The image of some files; `aside` is where its layer is written.

    A compressed layer is the same wherever Python uses the same zlib; an uncompressed one is the same everywhere.
    """
    with aside.open("wb") as stream:
        outer = _Hashing(stream)
        if is_compressed:
            packed = gzip.GzipFile("", "wb", _GZIP_LEVEL, cast("BinaryIO", outer), mtime=0)
            with packed:
                inner = _Hashing(cast("BinaryIO", packed))
                _write_layer(inner, files)
        else:
            inner = outer
            _write_layer(inner, files)
    layer = Blob(Descriptor(outer.digest, outer.size), aside)
    config = _config(labels, inner.digest)
    manifest = _manifest(config, layer.descriptor, GZIP_TYPE if is_compressed else LAYER_TYPE)
    return Built(digest_of(manifest), manifest, config, layer, inner.digest)


def _config(labels: Mapping[str, str], diff_id: str) -> bytes:
    return _json(
        {
            "created": _EPOCH,
            "architecture": "amd64",
            "os": "linux",
            "config": {"Labels": dict(labels)},
            "rootfs": {"type": "layers", "diff_ids": [diff_id]},
            "history": [{"created": _EPOCH, "created_by": "olmf"}],
        }
    )


def _manifest(config: bytes, layer: Descriptor, layer_type: str) -> bytes:
    return _json(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST_TYPE,
            "config": {"mediaType": CONFIG_TYPE, "digest": digest_of(config), "size": len(config)},
            "layers": [{"mediaType": layer_type, "digest": layer.digest, "size": layer.size}],
        }
    )


def _write_layer(target: _Hashing, files: Files) -> None:
    with tarfile.open(fileobj=cast("BinaryIO", target), mode="w|", format=tarfile.PAX_FORMAT) as archive:
        for folder in sorted(_folders(files)):
            member = tarfile.TarInfo(folder)
            member.type, member.mode = tarfile.DIRTYPE, _FOLDER_MODE
            archive.addfile(member)
        for path in sorted(files):
            advanced("packing", _add(archive, path, files[path]), "files")


def _add(archive: tarfile.TarFile, path: str, content: bytes | Path) -> int:
    """Add a file; its size."""
    member = tarfile.TarInfo(path)
    member.mode = _FILE_MODE
    if isinstance(content, bytes):
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
        return member.size
    with content.open("rb", buffering=CHUNK_BYTES) as stream:
        member.size = content.stat().st_size
        archive.addfile(member, stream)
    return member.size


def _folders(paths: Iterable[str]) -> set[str]:
    return {str(parent) for path in paths for parent in PurePosixPath(path).parents} - {"."}


def _json(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
