"""The ConfigMap a bundle is unpacked into, written and read as OLM does (catalog.md §5.5)."""

from __future__ import annotations

import base64
import gzip
import io
import re
import zlib
from collections.abc import Mapping
from typing import Final

from shared import names
from shared.api.manifest import Manifest, ReadOnly, annotations_of, name_of
from shared.domain.bundle.annotations import KEYS
from shared.domain.bundle.annotations import parse as parse_annotations
from shared.domain.bundle.model import CSV, BadBundle, Files, UnpackedBundle
from shared.domain.bundle.shape import defect
from shared.domain.go import yaml as goyaml

LIMIT: Final = 1024 * 1024
"""Bytes of encoded content that fit a ConfigMap."""
WHOLE_LIMIT: Final = 16 * 1024 * 1024
"""The same of a bundle whose objects go into Secrets, as many as they need."""
_UNPACKED_BYTES: Final = 64 * 1024 * 1024
"""What the content may grow to: a mebibyte of zeros, compressed, is a gibibyte of memory."""
ENCODING: Final = "olm.contentEncoding"
_GZIP_BASE64: Final = "gzip+base64"
_DIRECTORIES: Final = ("manifests", "metadata")
_ANNOTATIONS_FILE: Final = "annotations.yaml"
_OUTSIDE_KEY: Final = re.compile(r"[^-A-Za-z0-9_.]")
_GZIP_LEVEL: Final = 6


def payload(files: Files, image: str) -> Manifest | BadBundle:
    """`{"annotations": …, "binaryData": …}` for the files of a bundle image."""
    labels = dict.fromkeys(KEYS, "")
    texts: dict[str, bytes] = {}
    for path in _in_order(files):
        directory, _, name = path.partition("/")
        if "/" in name:
            return BadBundle("Malformed", f"{image}: {directory}/ holds the directory {name.rpartition('/')[0]!r}: "
                             "the files of a bundle lie directly in manifests/ and metadata/")  # fmt: skip
        if name == _ANNOTATIONS_FILE:
            labels = _labels(files[path])
            continue
        key = key_of(path)
        if key in texts:
            return BadBundle("Malformed", f"{image}: two files share the key {key!r} ({path}): rename one of them")
        texts[key] = packed(files[path])
    return _fitting(image, labels, texts)


def key_of(path: str) -> str:
    """The key of a file in the ConfigMap: its name, in which `-` replaces every character that a key cannot have."""
    return _OUTSIDE_KEY.sub("-", path.rpartition("/")[2])


def packed(content: bytes) -> bytes:
    """A file as it is in the ConfigMap: compressed, then in base64."""
    return base64.b64encode(gzip.compress(content, _GZIP_LEVEL, mtime=0))


def _in_order(files: Files) -> list[str]:
    return [path for directory in _DIRECTORIES for path in sorted(files) if path.startswith(f"{directory}/")]


def _labels(content: bytes) -> dict[str, str]:
    try:
        parsed = parse_annotations(goyaml.load_value(content))
    except goyaml.YamlError:
        parsed = None
    return dict(parsed.labels) if parsed else dict.fromkeys(KEYS, "")


def _fitting(image: str, labels: dict[str, str], texts: dict[str, bytes]) -> Manifest | BadBundle:
    if not texts:
        return BadBundle("Empty", f"{image}: the image holds no files in manifests/: it is not a registry+v1 bundle")
    size = sum(map(len, texts.values()))
    if size > LIMIT:
        return BadBundle("TooLarge", f"{image}: bundle files exceeded {LIMIT} bytes limit ({size} bytes compressed and "
                         "encoded): make the bundle smaller, e.g. shorten the descriptions in its CRDs")  # fmt: skip
    return {
        "annotations": {**labels, names.SOURCE_IMAGE: image, ENCODING: _GZIP_BASE64},
        # The API encodes binary data once more: readers decode base64 twice.
        "binaryData": {key: base64.b64encode(text).decode() for key, text in texts.items()},
    }


def whole(files: Files, image: str) -> Manifest | BadBundle:
    """`{"binaryData": …}`: every file by its path, packed as in a ConfigMap."""
    texts = {path: packed(files[path]) for path in sorted(files)}
    size = sum(map(len, texts.values()))
    if size > WHOLE_LIMIT:
        why = f"bundle files exceeded {WHOLE_LIMIT} bytes limit ({size} bytes compressed and encoded)"
        return BadBundle(
            "TooLarge", f"{image}: {why}: make the bundle smaller, e.g. shorten the descriptions in its CRDs"
        )
    return {"binaryData": {path: base64.b64encode(text).decode() for path, text in texts.items()}}


def files_in(packed_files: ReadOnly) -> Files:
    """The files that `whole` packed."""
    return _unpacked(packed_files)


def load(config_map: ReadOnly) -> UnpackedBundle | BadBundle:
    """The bundle in a ConfigMap. `Empty` says that nothing was unpacked yet."""
    try:
        contents = _contents(config_map)
    except _Unreadable as error:
        what = f"failed to extract bundle from configmap - error decoding gzip-encoded bundle data: {error}"
        return BadBundle("Malformed", f"ConfigMap {name_of(config_map)}: {what}; delete it to unpack again")
    found = (_manifest(contents[key]) for key in sorted(contents))
    return _bundle(name_of(config_map), tuple(filter(None, found)))


class _Unreadable(ValueError):
    """A value is not what unpacking writes."""


def _contents(config_map: ReadOnly) -> Mapping[str, str | bytes]:
    if annotations_of(config_map).get(ENCODING) != _GZIP_BASE64:
        return config_map.get("data") or {}
    return _unpacked(config_map)


def _unpacked(config_map: ReadOnly) -> dict[str, bytes]:
    contents, left = {}, _UNPACKED_BYTES
    for key, value in (config_map.get("binaryData") or {}).items():
        try:
            contents[key] = _decoded(value, left)
        except (ValueError, OSError, EOFError, zlib.error) as error:
            raise _Unreadable(f"{key}: {error}") from error
        left -= len(contents[key])
    return contents


def _decoded(value: str, limit: int) -> bytes:
    packed = base64.b64decode(base64.b64decode(value, validate=True), validate=True)
    with gzip.GzipFile(fileobj=io.BytesIO(packed)) as stream:
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"it unpacks to more than {_UNPACKED_BYTES} bytes")
    return content


def _manifest(content: str | bytes) -> Manifest | None:
    """The object in a file; None for a file without one, such as `dependencies.yaml`."""
    try:
        manifest = goyaml.load(content)
    except goyaml.YamlError:
        return None
    return manifest if isinstance(manifest.get("kind"), str) and manifest["kind"] else None


def _bundle(where: str, objects: tuple[Manifest, ...]) -> UnpackedBundle | BadBundle:
    if not objects:
        return BadBundle("Empty", f"ConfigMap {where} holds no objects")
    for manifest in objects:
        if why := defect(manifest):
            what = f"the {manifest['kind']} of the bundle is none: {why}"
            return BadBundle("Malformed", f"{what}; correct it and publish the bundle again")
    csvs = [manifest for manifest in objects if manifest["kind"] == CSV]
    if not csvs:
        kinds = ", ".join(sorted({manifest["kind"] for manifest in objects}))
        return BadBundle("NoClusterServiceVersion", f"the bundle has no ClusterServiceVersion, only: {kinds}; add one "
                         "to its manifests/")  # fmt: skip
    csv = csvs[-1]
    if not csv.get("apiVersion"):
        return BadBundle("Malformed", f"bundle CSV {name_of(csv)} missing APIVersion")
    return UnpackedBundle(csv, objects)
