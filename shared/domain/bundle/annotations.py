"""The six annotations of a bundle, which are also the labels of its image (fbc.md §9.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from shared.domain.catalog.shapes import RAW, Struct, struct

_PREFIX: Final = "operators.operatorframework.io.bundle."
MANIFESTS: Final = f"{_PREFIX}manifests.v1"
MEDIA_TYPE: Final = f"{_PREFIX}mediatype.v1"
METADATA: Final = f"{_PREFIX}metadata.v1"
PACKAGE: Final = f"{_PREFIX}package.v1"
CHANNELS: Final = f"{_PREFIX}channels.v1"
DEFAULT_CHANNEL: Final = f"{_PREFIX}channel.default.v1"
KEYS: Final = (MANIFESTS, MEDIA_TYPE, METADATA, PACKAGE, CHANNELS, DEFAULT_CHANNEL)
"""The annotations that unpacking copies to the ConfigMap, in this order; it copies no others."""
_TYPED: Final = (PACKAGE, CHANNELS, DEFAULT_CHANNEL)
"""The annotations that `opm` reads; a file in which one of them is not a scalar is not an annotations file."""
_LABELS: Final = Struct("registry.Annotations", dict.fromkeys(_TYPED, RAW))
_FILE: Final = struct("registry.AnnotationsFile", annotations=RAW)
CONFIGS: Final = "operators.operatorframework.io.index.configs.v1"
"""Label of a catalog image: the path of its file-based catalog."""
DATABASE: Final = "operators.operatorframework.io.index.database.v1"
"""Label of an SQLite catalog image: the path of its database."""


@dataclass(frozen=True, slots=True)
class Annotations:
    """What `annotations.yaml` says."""

    package: str
    channels: tuple[str, ...] = ()
    default_channel: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    """All six, the missing ones empty."""


def parse(document: object) -> Annotations | None:
    """The annotations in a metadata document; None for a document of another kind."""
    found = _annotations_in(document) or {}
    read = {key: one for key, one in _LABELS.read(found).items() if key in _TYPED}
    if any(isinstance(one, Mapping | list) for one in read.values()):
        return None
    labels = {key: text_of(found.get(key)) for key in KEYS} | {key: text_of(one) for key, one in read.items()}
    if not any(labels[key] for key in _TYPED):
        return None
    channels = tuple(filter(None, (name.strip() for name in labels[CHANNELS].split(","))))
    return Annotations(labels[PACKAGE], channels, labels[DEFAULT_CHANNEL], labels)


def texts(document: object) -> Mapping[str, str] | None:
    """All annotations in a metadata document as `opm` validates them; None when one of them is no scalar."""
    found = _annotations_in(document)
    if found is None or any(isinstance(value, Mapping | list) for value in found.values()):
        return None
    return {key: text_of(value) for key, value in found.items()}


def _annotations_in(document: object) -> Mapping[str, Any] | None:  # why: any JSON value
    found = _FILE.read(document).get("annotations") if isinstance(document, Mapping) else None
    return found if isinstance(found, Mapping) else None


def text_of(value: object) -> str:
    """Scalars become text here, as in OLM: `package: 123` is the package `123`."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
    return str(value)
