"""The labels of a bundle image, which are the annotations of the bundle (fbc.md §9.1, §13.13)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from shared.api.manifest import ReadOnly
from shared.domain.bundle.annotations import (
    CHANNELS,
    DEFAULT_CHANNEL,
    MANIFESTS,
    MEDIA_TYPE,
    METADATA,
    PACKAGE,
    text_of,
)
from shared.domain.go.text import quoted


@dataclass(frozen=True, slots=True)
class LabelOptions:
    """What the caller of `build` states about a bundle; an empty field states nothing."""

    package: str = ""
    channels: str = ""
    default_channel: str = ""


def labels(media_type: str, annotations: ReadOnly, desired: LabelOptions) -> dict[str, str]:
    """All labels: what is wanted, else what the annotations say; a default channel only if there is one."""
    made = {
        MEDIA_TYPE: media_type,
        MANIFESTS: "manifests/",
        METADATA: "metadata/",
        PACKAGE: desired.package or text_of(annotations.get(PACKAGE)),
        CHANNELS: desired.channels or text_of(annotations.get(CHANNELS)),
    }
    default = desired.default_channel or text_of(annotations.get(DEFAULT_CHANNEL))
    return made | {DEFAULT_CHANNEL: default} if default else made


def differences(annotations: ReadOnly, made: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each label that the annotations lack or contradict; other annotations are ignored."""
    for key, value in made.items():
        if key not in annotations:
            yield f"Missing field: {key}"
        elif (found := text_of(annotations[key])) != value:
            yield f"Expect field {quoted(key)} to have value {quoted(value)} instead of {quoted(found)}"
