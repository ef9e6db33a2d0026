"""Built images written to this machine: into a layout folder, or as one archive for `docker load`."""

from __future__ import annotations

import io
import tarfile
import tempfile
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final

import orjson

from shared.adapters.oci import verify
from shared.adapters.oci.build import MANIFEST_TYPE, Built
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.layout import REF_NAME, tag_of
from shared.adapters.oci.local import ArchiveName, LayoutName
from shared.adapters.oci.prefixes import LAYOUT_MARK
from shared.adapters.oci.verify import CHUNK_BYTES
from shared.adapters.whole_file import write_whole

_VERSION: Final = b'{"imageLayoutVersion":"1.0.0"}'
_MODE: Final = 0o644


def save_layout(built: Built, name: LayoutName) -> None:
    """Add an image to a layout folder, made when it is not there; another image with the same tag loses it."""
    try:
        blobs = name.path / "blobs" / "sha256"
        blobs.mkdir(parents=True, exist_ok=True)
        write_whole(name.path / LAYOUT_MARK, [_VERSION])
        with built.layer.path.open("rb") as layer:
            write_whole(blobs / _hex(built.layer.descriptor.digest), iter(partial(layer.read, CHUNK_BYTES), b""))
        write_whole(blobs / _hex(built.config_descriptor.digest), [built.config])
        write_whole(blobs / _hex(built.digest), [built.manifest])
        write_whole(name.path / "index.json", [_index(name, built)])
    except OSError as error:
        raise _unwritable(name, error) from error


def _index(name: LayoutName, built: Built) -> bytes:
    path = name.path / "index.json"
    known = verify.objects(verify.document(path.read_bytes(), name).get("manifests")) if path.exists() else []
    entry: dict[str, Any] = {"mediaType": MANIFEST_TYPE, "digest": built.digest, "size": len(built.manifest)}
    if name.tag:
        entry["annotations"] = {REF_NAME: name.tag}
    others = [one for one in known if tag_of(one) != name.tag]
    return orjson.dumps({"schemaVersion": 2, "manifests": [*others, entry]}, option=orjson.OPT_SORT_KEYS)


def save_archive(built: Built, name: ArchiveName) -> None:
    """Write a file that `docker load` and `podman load` read."""
    config, layer = f"{_hex(built.config_descriptor.digest)}.json", f"{_hex(built.diff_id)}.tar"
    manifest = [{"Config": config, "RepoTags": [name.tag] if name.tag else None, "Layers": [layer]}]
    try:
        with tempfile.TemporaryDirectory(dir=name.path.parent, prefix=".olmf-") as folder:
            aside = Path(folder, "archive")
            with tarfile.open(aside, mode="w") as archive:
                _add(archive, layer, built.layer.descriptor.size, built.layer.path.open("rb"))
                for path, content in ((config, built.config), ("manifest.json", orjson.dumps(manifest))):
                    _add(archive, path, len(content), io.BytesIO(content))
            aside.replace(name.path)
    except OSError as error:
        raise _unwritable(name, error) from error


def _add(archive: tarfile.TarFile, path: str, size: int, content: BinaryIO) -> None:
    member = tarfile.TarInfo(path)
    member.size, member.mode = size, _MODE
    with content:
        archive.addfile(member, content)


def _hex(digest: str) -> str:
    return digest.partition(":")[2]


def _unwritable(name: object, error: OSError) -> OciError:
    return OciError("Unreachable", f"{name} cannot be written: {error}; choose another folder")
