"""Releases of the engine that OLM v1 used before ClusterObjectSets, in Secrets of Helm (v1.md §20, §21.9)."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from shared import names
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly, labels_of, metadata, name_of
from shared.api.views import ClusterExtension, Object
from shared.refs import misnamed

INDICES: Final[Mapping[str, str]] = {"owner": names.V1_HELM_MANAGER, "type": "index", "status": "deployed"}
"""Labels of the first Secret of each release that was installed."""
MOST: Final = 20
"""Releases of one extension that are looked at; upstream keeps ten."""
_CHUNKS: Final = 11
"""Secrets of a release, as upstream reads them."""
LARGEST: Final = 32 * 1024 * 1024
"""Bytes of a release after decompression."""


class UnusableRelease(ValueError):
    """A release cannot be read, or is not what upstream writes."""


@dataclass(frozen=True, slots=True)
class Release:
    """What was installed."""

    labels: Mapping[str, str]
    """Which bundle it was, by the names that annotations of revisions have."""
    annotations: Mapping[str, str]
    """Of the ClusterServiceVersion."""
    objects: tuple[Manifest, ...]
    """As they were applied."""


def newest(indices: Iterable[ReadOnly], extension: ClusterExtension) -> ReadOnly | None:
    """The first Secret of the newest release that was installed for this very extension; None without one."""
    mine = [one for one in indices if labels_of(one).get("name") == extension.name and _belongs(one, extension.uid)]
    return max(mine, key=_version, default=None)


def others_of(index: ReadOnly) -> tuple[str, ...]:
    """The names of the other Secrets of a release, in order. UnusableRelease."""
    found = _json(_data(index, "extraChunks"), f"chunk names of {name_of(index)}")
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise UnusableRelease(f"index secret {name_of(index)}: extraChunks is no list of names")
    if 1 + len(found) > _CHUNKS:
        size = f"{name_of(index)} consists of {1 + len(found)} chunks"
        raise UnusableRelease(f"release too large: {size}, which exceeds the maximum of {_CHUNKS}")
    return tuple(found)


def release_of(index: ReadOnly, others: Sequence[tuple[str, ReadOnly | None]]) -> Release:
    """The release in a Secret and the others that it names; each must be there, and be its own. UnusableRelease."""
    for name, one in others:
        if one is None or not _belongs(one, Object(index).uid):
            raise UnusableRelease(f"failed to get chunk secret {name} of release {name_of(index)}")
    parts = [_data(one, "chunk") for one in (index, *(one for _, one in others if one is not None))]
    found = _json(_inflated(parts, name_of(index)), f"release {name_of(index)}")
    if fields.text(found, "info", "status") != "deployed" or fields.text(found, "name") != labels_of(index)["name"]:
        raise UnusableRelease(f"release {name_of(index)} is not what its secret says")
    chart = fields.part(found, "chart", "metadata", "annotations")
    return Release(_texts(fields.part(found, "labels")), _texts(chart), tuple(_objects(found, name_of(index))))


def _objects(release: Any, name: str) -> Iterator[Manifest]:
    """One JSON document per line."""
    for number, line in enumerate(fields.text(release, "manifest").split("\n"), 1):
        if text := line.strip():
            found = _json(text.encode(), f"line {number} of the manifest of {name}")
            wrong = "it is no object" if not isinstance(found, dict) else _malformed(found)
            if wrong:
                raise UnusableRelease(f"line {number} of the manifest of {name}: {wrong}")
            yield found


def _malformed(found: Manifest) -> str:
    if not isinstance(found.get("metadata"), dict):
        return "it has no metadata"
    for key in ("labels", "annotations"):
        values = metadata(found).get(key) or {}
        if not isinstance(values, dict) or _texts(values) != values:
            return f"metadata.{key} are no texts"
    return misnamed(found)


def _belongs(secret: ReadOnly, uid: str) -> bool:
    """Whether the object of that uid controls a Secret: labels alone everybody could give it."""
    return any(one.is_controller and one.uid == uid for one in Object(secret).owners)


def _version(index: ReadOnly) -> int:
    text = labels_of(index).get("version", "")
    return int(text) if text.isascii() and text.isdigit() else 0


def _data(secret: ReadOnly, key: str) -> bytes:
    try:
        return base64.b64decode((secret.get("data") or {})[key], validate=True)
    except (KeyError, TypeError, binascii.Error) as error:
        raise UnusableRelease(f"secret {name_of(secret)} is missing {key}") from error


def _inflated(parts: Sequence[bytes], name: str) -> bytes:
    inflating = zlib.decompressobj(wbits=31)
    try:
        found = inflating.decompress(b"".join(parts), LARGEST + 1)
    except zlib.error as error:
        raise UnusableRelease(f"failed to decode release {name}: {error}") from error
    if len(found) > LARGEST:
        raise UnusableRelease(f"release {name} exceeds {LARGEST} bytes")
    if not inflating.eof:
        raise UnusableRelease(f"failed to decode release {name}: unexpected EOF")
    return found


def _json(text: bytes, what: str) -> Any:  # why: any JSON value
    """Nested 1024 times at most."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise UnusableRelease(f"failed to decode {what}: {error}") from error


def _texts(found: Mapping[str, Any]) -> dict[str, str]:
    return {key: value for key, value in found.items() if isinstance(value, str)}
