"""Checks folders, annotations and dependencies, which `opm` does first (fbc.md §11.1, §11.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from shared.domain.authoring.validation.dependencies import dependencies
from shared.domain.authoring.validation.finding import Finding, plain, warned
from shared.domain.authoring.validation.subject import Subject
from shared.domain.bundle.annotations import (
    CHANNELS,
    DEFAULT_CHANNEL,
    KEYS,
    MANIFESTS,
    MEDIA_TYPE,
    METADATA,
    text_of,
)
from shared.domain.bundle.model import CSV
from shared.domain.bundle.shape import as_object
from shared.domain.go.text import quoted
from shared.domain.go_types.plain import what_is

REGISTRY: Final = "registry+v1"
HELM: Final = "helm"
_PLAIN: Final = "plain"
NO_CSV: Final = "no file in manifests/ holds a ClusterServiceVersion that can be read; add one"
_CHART: Final = "manifests/Chart.yaml"


def form(subject: Subject) -> Iterator[Finding]:
    """The findings about the form of a bundle; without its folders nothing else is checked."""
    missing = [folder for folder in ("manifests", "metadata") if not _has(subject, folder)]
    yield from (plain(f"Unable to locate {folder} directory") for folder in missing)
    if missing == ["metadata"]:
        yield warned("there is no file in metadata/, where annotations.yaml must be")
    if missing:
        return
    if not media_type(subject):
        yield plain(f"The directory {subject.where}/manifests contains no yaml files")
        return
    if subject.annotations_path:
        yield from (one.at(subject.annotations_path) for one in _annotations(subject))
    else:
        yield from (plain(str(one), one.path) for one in subject.metadata.passed)
        yield plain("Could not find annotations file")
        yield from _no_texts(subject)
    if lacks_csv(subject):
        yield from (warned(str(one), one.path) for one in subject.manifests.objects()[1])
    yield from dependencies(subject)


def media_type(subject: Subject) -> str:
    """The media type of the files in `manifests/`; empty without files."""
    if not any(path.startswith("manifests/") and path.count("/") == 1 for path in subject.files):
        return ""
    chart = as_object(subject.manifests.by_path.get(_CHART))
    if isinstance(chart.get("name"), str) and chart["name"]:
        return HELM
    return REGISTRY if any(one["kind"] == CSV for one in subject.objects.values()) else _PLAIN


def lacks_csv(subject: Subject) -> bool:
    """Whether its annotations say `registry+v1`, but it has no ClusterServiceVersion that can be read."""
    return text_of(subject.annotations.get(MEDIA_TYPE)) == REGISTRY and media_type(subject) == _PLAIN


def _has(subject: Subject, folder: str) -> bool:
    return any(path.startswith(f"{folder}/") for path in subject.files)


def _no_texts(subject: Subject) -> Iterator[Finding]:
    """The annotations for which a file is none of annotations."""
    for path, document in subject.metadata.by_path.items():
        for key, value in as_object(as_object(document).get("annotations")).items():
            if isinstance(value, Mapping | list):
                yield warned(f"the annotation {quoted(key)} in {path} is {what_is(value)}, not text", path)


def _annotations(subject: Subject) -> Iterator[Finding]:
    annotations, detected = subject.annotations, media_type(subject)
    for key in KEYS:
        value = text_of(annotations.get(key))
        if key not in annotations and key != DEFAULT_CHANNEL:
            yield plain(f"Missing annotation {quoted(key)}")
        if key == MEDIA_TYPE and value != detected:
            yield plain(
                f"Expecting annotation {quoted(key)} to have value {quoted(detected)} instead of {quoted(value)}"
            )
            if lacks_csv(subject):
                yield warned(NO_CSV)
        if not value and (key == CHANNELS or (key == DEFAULT_CHANNEL and key in annotations)):
            yield plain(f"Expecting annotation {quoted(key)} to have non-empty value")
    for key, folder in ((MANIFESTS, "manifests/"), (METADATA, "metadata/")):
        if key in annotations and text_of(annotations[key]) != folder:
            yield warned(
                f"annotation {quoted(key)} says {quoted(text_of(annotations[key]))}, but everybody reads {folder}"
            )
