"""Parses the bundle in an unpack ConfigMap, once for the same content."""

from __future__ import annotations

from functools import lru_cache

from shared.api.manifest import Manifest, ReadOnly, annotations_of, name_of
from shared.domain.bundle import payload
from shared.domain.bundle.model import BadBundle, UnpackedBundle

_Items = tuple[tuple[str, str], ...]


def bundle_in(config_map: ReadOnly, csv: str = "") -> UnpackedBundle | BadBundle:
    """The bundle, or why it is not valid. Callers share the answer: do not change it in place.

    `csv` is the name that the catalog gives the bundle: OLM installs a bundle of another name, and then waits for the
    one that it was promised.
    """
    encoding = annotations_of(config_map).get(payload.ENCODING, "")
    contents = (_items(config_map, "binaryData"), _items(config_map, "data"))
    found = _parsed(name_of(config_map), encoding, *contents)
    if csv and isinstance(found, UnpackedBundle) and name_of(found.csv) != csv:
        image = annotations_of(config_map).get(payload.SOURCE_IMAGE, "the image of the bundle")
        what = f"{image} holds ClusterServiceVersion {name_of(found.csv)}, but its catalog names it {csv}"
        return BadBundle("Malformed", f"{what}; correct the catalog, or publish the bundle as another image")
    return found


@lru_cache(maxsize=8)  # the steps of one install parse the same bundle four times within a second
def _parsed(name: str, encoding: str, binary: _Items, texts: _Items) -> UnpackedBundle | BadBundle:
    annotations = {payload.ENCODING: encoding} if encoding else {}
    config_map: Manifest = {"metadata": {"name": name, "annotations": annotations}}
    return payload.load(config_map | {"binaryData": dict(binary), "data": dict(texts)})


def _items(config_map: ReadOnly, field: str) -> _Items:
    return tuple(sorted((config_map.get(field) or {}).items()))
