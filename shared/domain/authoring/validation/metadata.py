"""What Kubernetes demands of the metadata of an object of any kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from shared.api.manifest import ReadOnly
from shared.domain.bundle.shape import as_list, as_object
from shared.domain.go.text import quoted
from shared.domain.syntax import LABEL_VALUE, QUALIFIED_NAME, SUBDOMAIN

_ANNOTATION_BYTES: Final = 256 * 1024


def object_metadata(meta: ReadOnly) -> Iterator[str]:
    """What is wrong with the metadata of an object of any kind, each with its field."""
    if not meta.get("name"):  # whatever the message says: nobody generates a name for a manifest
        yield "metadata.name: Required value: name or generateName is required"
    if meta.get("namespace"):
        yield "metadata.namespace: Forbidden: not allowed on this type"
    for field in ("labels", "annotations"):
        for key, value in as_object(meta.get(field)).items():
            wrong = [(key, why) for why in _qualified(key)]
            if field == "labels":
                wrong += [(value, why) for why in LABEL_VALUE.problems(value)]
            yield from (f"metadata.{field}: Invalid value: {quoted(text)}: {why}" for text, why in wrong)
    annotations: Mapping[str, str] = as_object(meta.get("annotations"))
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > _ANNOTATION_BYTES:
        yield f"metadata.annotations: Too long: may not be more than {_ANNOTATION_BYTES} bytes"
    for owner in map(as_object, as_list(meta.get("ownerReferences"))):
        yield from (f"metadata.ownerReferences.{why}" for why in _owner(owner))


def _owner(owner: ReadOnly) -> Iterator[str]:
    version = owner["apiVersion"]
    if not version.rpartition("/")[2]:
        yield f"apiVersion: Invalid value: {quoted(version)}: version must not be empty"
    for field in ("kind", "name", "uid"):
        if not owner[field]:
            yield f'{field}: Invalid value: "": must not be empty'


def _qualified(key: str) -> Iterator[str]:
    prefix, slash, name = key.rpartition("/")
    if slash:
        yield from (f"prefix part {why}" for why in (SUBDOMAIN.problems(prefix) if prefix else ["must be non-empty"]))
    if not name:
        yield "name part must be non-empty"
    else:
        yield from (f"name part {why}" for why in QUALIFIED_NAME.problems(name))
