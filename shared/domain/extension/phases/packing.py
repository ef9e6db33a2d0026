"""The objects of a revision, packed into immutable Secrets that are named by their content (v1.md §21.4)."""

from __future__ import annotations

import base64
import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from shared import kinds, names
from shared.api.manifest import Manifest
from shared.domain.extension.phases.order import Phase
from shared.domain.go import json as gojson
from shared.domain.go.encode import json_text

FULL: Final = 900 * 1024
"""Bytes of a Secret: with base64 and metadata it stays below the 1.5 MiB of etcd."""
LARGEST: Final = 10 * 1024 * 1024
"""Bytes of an object after decompression."""
_MAGIC: Final = b"\x1f\x8b"


class TooLarge(ValueError):
    """An object fits no Secret."""


class Unreadable(ValueError):
    """A Secret does not hold the object that it should."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose Secrets they are, and where they live."""

    revision: str
    extension: str
    namespace: str


@dataclass(frozen=True, slots=True)
class Packed:
    """The Secrets, and per phase the place of each object: name and namespace of a Secret, and a key in it."""

    secrets: tuple[Manifest, ...]
    references: tuple[tuple[Mapping[str, str], ...], ...]


@dataclass(slots=True)
class _Load:
    """What goes into one Secret."""

    data: dict[str, bytes] = field(default_factory=dict)
    places: list[tuple[int, int, str]] = field(default_factory=list)

    def has_room(self, key: str, content: bytes) -> bool:
        """Whether the content fits, or is there already."""
        return not self.data or key in self.data or sum(map(len, self.data.values())) + len(content) <= FULL


def pack(phases: Sequence[Phase], owner: Owner) -> Packed:
    """Every object in a Secret, equal ones of a Secret only once. TooLarge."""
    secrets = []
    references: list[list[Mapping[str, str]]] = [[{}] * len(phase.objects) for phase in phases]
    for load in _loads(phases):
        secret = _secret(load.data, owner)
        secrets.append(secret)
        name = secret["metadata"]["name"]
        for phase, index, key in load.places:
            references[phase][index] = {"name": name, "namespace": owner.namespace, "key": key}
    return Packed(tuple(secrets), tuple(map(tuple, references)))


def unpack(content: bytes, key: str, secret: str) -> Manifest:
    """The object under a key of a Secret; `secret` is its namespace and name. Unreadable."""
    if content.startswith(_MAGIC):
        inflating = zlib.decompressobj(wbits=31)
        try:
            content = inflating.decompress(content, LARGEST + 1)
        except zlib.error as error:
            raise Unreadable(f'decompressing data for key "{key}" in Secret {secret}: {error}') from error
        if len(content) > LARGEST:
            what = f'decompressed data for key "{key}" in Secret {secret}'
            raise Unreadable(f"{what} exceeds maximum size ({LARGEST} bytes)")
        if not inflating.eof:
            raise Unreadable(f'decompressing data for key "{key}" in Secret {secret}: unexpected EOF')
    try:
        found: Any = gojson.loads(content)
    except gojson.JsonError as error:
        raise Unreadable(f'unmarshaling object from key "{key}" in Secret {secret}: {error}') from error
    if not isinstance(found, dict):
        raise Unreadable(f'unmarshaling object from key "{key}" in Secret {secret}: it is no object')
    return found


def _loads(phases: Sequence[Phase]) -> Iterator[_Load]:
    load = _Load()
    for number, phase in enumerate(phases):
        for index, manifest in enumerate(phase.objects):
            content = _content(manifest, f"object in phase {number} index {index}")
            key = base64.urlsafe_b64encode(sha256(content).digest()).decode().rstrip("=")
            if not load.has_room(key, content):
                yield load
                load = _Load()
            load.data[key] = content
            load.places.append((number, index, key))
    if load.data:
        yield load


def _content(manifest: Manifest, place: str) -> bytes:
    content = json_text(manifest).encode()
    if len(content) > FULL:
        content = gzip.compress(content, mtime=0)
    if len(content) > FULL:
        what = f"{place} exceeds maximum Secret data size"
        raise TooLarge(f"{what} ({len(content)} bytes > {FULL} bytes) even after compression")
    return content


def _secret(data: Mapping[str, bytes], owner: Owner) -> Manifest:
    digest = sha256(b"".join(key.encode() + data[key] for key in sorted(data))).digest()
    labels = {names.V1_REVISION_NAME: owner.revision, names.V1_OWNER_NAME: owner.extension}
    return {
        "apiVersion": kinds.SECRET.api_version,
        "kind": kinds.SECRET.kind,
        "metadata": {"name": f"{owner.revision}-{digest[:8].hex()}", "namespace": owner.namespace, "labels": labels},
        "immutable": True,
        "type": names.V1_OBJECT_DATA,
        "data": {key: base64.b64encode(data[key]).decode() for key in sorted(data)},
    }
