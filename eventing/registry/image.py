"""An image made of files: the same files give the same bytes."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import orjson

MANIFEST_TYPE: Final = "application/vnd.oci.image.manifest.v1+json"
_CONFIG_TYPE: Final = "application/vnd.oci.image.config.v1+json"
_LAYER_TYPE: Final = "application/vnd.oci.image.layer.v1.tar"
_MODE: Final = 0o644


@dataclass(frozen=True, slots=True)
class Image:
    """An image of one layer, which is not held: it can be built again from the files."""

    digest: str
    manifest: bytes
    config_digest: str
    config: bytes
    layer_digest: str


def digest_of(content: bytes) -> str:
    """The digest of some bytes, as registries write it."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


def layer_of(files: Mapping[str, bytes]) -> bytes:
    """An uncompressed archive of some files; on loopback, compressing costs more than it saves."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(files):
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(files[path]), _MODE
            archive.addfile(member, io.BytesIO(files[path]))
    return buffer.getvalue()


def image_of(layer: bytes, labels: Mapping[str, str]) -> Image:
    """The image with that single layer."""
    layer_digest = digest_of(layer)
    config = _json(
        {
            "architecture": "amd64",
            "os": "linux",
            "config": {"Labels": dict(labels)},
            "rootfs": {"type": "layers", "diff_ids": [layer_digest]},
        }
    )
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST_TYPE,
            "config": {"mediaType": _CONFIG_TYPE, "digest": digest_of(config), "size": len(config)},
            "layers": [{"mediaType": _LAYER_TYPE, "digest": layer_digest, "size": len(layer)}],
        }
    )
    return Image(digest_of(manifest), manifest, digest_of(config), config, layer_digest)


def _json(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
