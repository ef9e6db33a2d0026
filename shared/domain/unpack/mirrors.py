"""Selects the image mirrors for the Job, which pulls the image itself and may not read them from the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import orjson

from shared.api.manifest import ReadOnly

_FIELDS: Final = ("imageDigestMirrors", "imageTagMirrors")


def told(image: str, sets: Iterable[ReadOnly]) -> str:
    """The mirror sets that apply to an image, reduced to it, as a JSON list; empty when none does."""
    found = [
        {"spec": {field: listed}} for one in sets for field in _FIELDS if (listed := list(_about(image, one, field)))
    ]
    return orjson.dumps(found).decode() if found else ""


def _about(image: str, mirror_set: ReadOnly, field: str) -> Iterator[ReadOnly]:
    for one in (mirror_set.get("spec") or {}).get(field) or ():
        source = str(one.get("source") or "")
        host = image.partition("/")[0].partition(":")[0]
        is_wildcard = source.startswith("*.") and host.endswith(source[1:])
        if is_wildcard or (source and image.startswith(tuple(f"{source}{end}" for end in "/:@"))):
            yield one
