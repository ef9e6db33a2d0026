"""Parses the bundle in an unpack ConfigMap, once for the same content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from shared import names
from shared.api.manifest import name_of
from shared.api.views import ConfigMap
from shared.domain.bundle import payload
from shared.domain.bundle.model import BadBundle, UnpackedBundle
from shared.domain.objects.plan_record import of_bundle

_Items = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ExpectedBundle:
    """What is known of a bundle before it is read."""

    csv: str = ""
    """The name that its catalog gives it; empty accepts any."""


ANY: Final = ExpectedBundle()


def bundle_in(config_map: ConfigMap, expected: ExpectedBundle = ANY) -> UnpackedBundle | BadBundle:
    """The bundle, or why it is not to be installed. Callers share the answer: do not change it in place."""
    encoding = config_map.annotations.get(payload.ENCODING, "")
    found = _parsed(config_map.name, encoding, _items(config_map.bytes), _items(config_map.texts))
    if isinstance(found, BadBundle):
        return found
    image = config_map.annotations.get(names.SOURCE_IMAGE, "the image of the bundle")
    return _broken(expected, found, image) or found


def _broken(expected: ExpectedBundle, found: UnpackedBundle, image: str) -> BadBundle | None:
    """Why a valid bundle is not the promised one. OLM installs it all the same.

    It then waits for ever for the promised name.
    """
    csv = name_of(found.csv)
    if expected.csv not in ("", csv):
        what = f"{image} holds ClusterServiceVersion {csv}, but its catalog names it {expected.csv}"
        return BadBundle("Malformed", f"{what}; correct the catalog, or publish the bundle as another image")
    return None


def digest_in(config_map: ConfigMap) -> str:
    """The digest of the bundle; empty when there is none in it."""
    encoding = config_map.annotations.get(payload.ENCODING, "")
    return _digest(config_map.name, encoding, _items(config_map.bytes), _items(config_map.texts))


@lru_cache(maxsize=8)
def _digest(name: str, encoding: str, binary: _Items, texts: _Items) -> str:
    found = _parsed(name, encoding, binary, texts)
    return "" if isinstance(found, BadBundle) else of_bundle(found)


@lru_cache(maxsize=8)  # the steps of one install parse the same bundle four times within a second
def _parsed(name: str, encoding: str, binary: _Items, texts: _Items) -> UnpackedBundle | BadBundle:
    annotations = {payload.ENCODING: encoding} if encoding else {}
    config_map = {"metadata": {"name": name, "annotations": annotations}}
    return payload.load(config_map | {"binaryData": dict(binary), "data": dict(texts)})


def _items(content: Mapping[str, str]) -> _Items:
    return tuple(sorted(content.items()))
