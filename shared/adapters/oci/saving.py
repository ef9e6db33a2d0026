"""Built images written to this machine: into a layout folder, or as one archive for `docker load`."""

from __future__ import annotations

import io
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import Any, BinaryIO, Final

import orjson

from shared.adapters.oci.build import MANIFEST_TYPE, Built
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.layout import REF_NAME
from shared.adapters.oci.local import ArchiveName, LayoutName
from shared.adapters.paths import LAYOUT_MARK

_VERSION: Final = b'{"imageLayoutVersion":"1.0.0"}'
_MODE: Final = 0o644


def save_layout(built: Built, name: LayoutName) -> None:
    """Add an image to a layout folder, made when it is not there; another image with the same tag loses it."""
    try:
        blobs = name.path / "blobs" / "sha256"
        blobs.mkdir(parents=True, exist_ok=True)
        _write(name.path / LAYOUT_MARK, _VERSION)
        _copy(built.layer.path, blobs / _hex(built.layer.descriptor.digest))
        _write(blobs / _hex(built.config_descriptor.digest), built.config)
        _write(blobs / _hex(built.digest), built.manifest)
        _write(name.path / "index.json", _index(name, built))
    except OSError as error:
        raise _unwritable(name, error) from error


def _index(name: LayoutName, built: Built) -> bytes:
    path = name.path / "index.json"
    known = orjson.loads(path.read_bytes()).get("manifests", []) if path.exists() else []
    entry: dict[str, Any] = {"mediaType": MANIFEST_TYPE, "digest": built.digest, "size": len(built.manifest)}
    if name.tag:
        entry["annotations"] = {REF_NAME: name.tag}
    others = [one for one in known if _tag(one) != name.tag]
    return orjson.dumps({"schemaVersion": 2, "manifests": [*others, entry]}, option=orjson.OPT_SORT_KEYS)


def _tag(entry: dict[str, Any]) -> str:
    return str((entry.get("annotations") or {}).get(REF_NAME, ""))


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


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as content, target.with_name(f".{target.name}").open("wb") as copy:
        shutil.copyfileobj(content, copy)
    Path(copy.name).replace(target)


def _write(path: Path, content: bytes) -> None:
    aside = path.with_name(f".{path.name}")
    aside.write_bytes(content)
    aside.replace(path)


def _hex(digest: str) -> str:
    return digest.partition(":")[2]


def _unwritable(name: object, error: OSError) -> OciError:
    return OciError("Unreachable", f"{name} cannot be written: {error}; choose another folder")
