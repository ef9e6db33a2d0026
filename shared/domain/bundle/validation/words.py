"""What Kubernetes demands of names, labels and annotations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from shared.api.manifest import ReadOnly
from shared.domain.bundle.shape import as_object
from shared.domain.gotext import quoted

_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL_VALUE: Final = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_LABEL: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_QUALIFIED: Final = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_SUBDOMAIN_BYTES: Final = 253
_LABEL_BYTES: Final = 63
_ANNOTATION_BYTES: Final = 256 * 1024


def subdomain(text: str) -> list[str]:
    """What is wrong with a name such as `example.com`."""
    return _wrong(text, _SUBDOMAIN, _SUBDOMAIN_BYTES, _SUBDOMAIN_RULE)


def label_value(text: str) -> list[str]:
    """What is wrong with the value of a label."""
    return _wrong(text, _LABEL_VALUE, _LABEL_BYTES, _VALUE_RULE)


def label(text: str) -> list[str]:
    """What is wrong with a name without dots that begins with a letter."""
    return _wrong(text, _LABEL, _LABEL_BYTES, _LABEL_RULE)


def object_metadata(meta: ReadOnly) -> Iterator[str]:
    """What is wrong with the metadata of an object of any kind, each with its field."""
    if not meta.get("name") and not meta.get("generateName"):
        yield "metadata.name: Required value: name or generateName is required"
    for field in ("labels", "annotations"):
        for key, value in as_object(meta.get(field)).items():
            yield from (f"metadata.{field}: Invalid value: {quoted(key)}: {why}" for why in _qualified(key))
            if field == "labels":
                yield from (f"metadata.labels: Invalid value: {quoted(value)}: {why}" for why in label_value(value))
    annotations: Mapping[str, str] = as_object(meta.get("annotations"))
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > _ANNOTATION_BYTES:
        yield f"metadata.annotations: Too long: may not be more than {_ANNOTATION_BYTES} bytes"


def _qualified(key: str) -> Iterator[str]:
    prefix, slash, name = key.rpartition("/")
    if slash:
        yield from (f"prefix part {why}" for why in (subdomain(prefix) if prefix else ["must be non-empty"]))
    if not name:
        yield "name part must be non-empty"
    else:
        yield from (f"name part {why}" for why in _wrong(name, _QUALIFIED, _LABEL_BYTES, _QUALIFIED_RULE))


def _wrong(text: str, pattern: re.Pattern[str], most_bytes: int, rule: str) -> list[str]:
    found = [f"must be no more than {most_bytes} bytes"] if len(text.encode()) > most_bytes else []
    return found if pattern.fullmatch(text) else [*found, f"{rule}, regex used for validation is '{pattern.pattern}'"]


_ENDS: Final = "must start and end with an alphanumeric character"
_SUBDOMAIN_RULE: Final = (
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and {_ENDS}"
)
_VALUE_RULE: Final = (
    f"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and {_ENDS}"
)
_LABEL_RULE: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character"
)
_QUALIFIED_RULE: Final = f"must consist of alphanumeric characters, '-', '_' or '.', and {_ENDS}"
