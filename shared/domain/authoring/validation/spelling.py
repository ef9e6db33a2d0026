"""Annotations of OLM that are spelled with other capitals, and hence have no effect (fbc.md §11.5, §11.6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from shared import names
from shared.domain.authoring.validation.finding import ERROR, Finding
from shared.domain.authoring.validation.subject import Subject
from shared.domain.bundle.shape import as_object, name_in

_SPELLINGS: Final = (
    names.OPERATOR_GROUP,
    names.OPERATOR_NAMESPACE,
    names.TARGET_NAMESPACES,
    names.PROVIDED_APIS,
    names.SKIP_RANGE,
)
_GROUP_VERSIONS: Final = ("operators.coreos.com/v1", "operators.coreos.com/v1alpha2")


def misspelled(annotations: Mapping[str, str], name: str) -> Iterator[Finding]:
    """A finding for each of these annotations of an object with this name."""
    for right in _SPELLINGS:
        for key in sorted(annotations):
            if key != right and key.lower() == right.lower():
                what = f"provided annotation {key} uses wrong case and should be {right} instead"
                yield Finding(ERROR, what, value=name)


def operator_groups(subject: Subject) -> Iterator[Finding]:
    """The same for the OperatorGroups of a bundle."""
    for path, manifest in subject.of_kind("OperatorGroup"):
        if manifest.get("apiVersion") in _GROUP_VERSIONS:
            annotations = as_object(as_object(manifest.get("metadata")).get("annotations"))
            yield from (one.at(path) for one in misspelled(annotations, name_in(manifest)))
