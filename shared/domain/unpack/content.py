"""Parses the bundle in an unpack ConfigMap, once for the same content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, TypeAlias

from shared import names
from shared.api.manifest import name_of
from shared.api.views import ConfigMap
from shared.domain.bundle import payload
from shared.domain.bundle.model import BadBundle, UnpackedBundle
from shared.domain.objects.plan_record import of_bundle

SMALL: Final = 128 * 1024
"""Letters, compressed as they are. Four steps of an install ask for a bundle, between which others are installed: of 24
real packages 18 are small. Memory bounds how many are remembered."""

_Items: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ExpectedBundle:
    """What is known of a bundle before it is read."""

    csv: str = ""
    """The name that its catalog gives it; empty accepts any."""


ANY: Final = ExpectedBundle()


def bundle_in(config_map: ConfigMap, expected: ExpectedBundle = ANY) -> UnpackedBundle | BadBundle:
    """The bundle, or why it is not to be installed. Callers share the answer: do not change it in place."""
    found = _parsed(config_map).found
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
    return _parsed(config_map).digest


@dataclass(frozen=True)
class _Parsed:
    """What is in a ConfigMap."""

    found: UnpackedBundle | BadBundle

    @cached_property
    def digest(self) -> str:
        """The digest of the bundle, empty without one."""
        return "" if isinstance(self.found, BadBundle) else of_bundle(self.found)


def _parsed(config_map: ConfigMap) -> _Parsed:
    binary, texts = _items(config_map.bytes), _items(config_map.texts)
    is_small = sum(len(text) for _, text in (*binary, *texts)) <= SMALL
    parse = _parsed_small if is_small else _parsed_large
    return parse(config_map.name, config_map.annotations.get(payload.ENCODING, ""), binary, texts)


def _parse(name: str, encoding: str, binary: _Items, texts: _Items) -> _Parsed:
    annotations = {payload.ENCODING: encoding} if encoding else {}
    config_map = {"metadata": {"name": name, "annotations": annotations}}
    return _Parsed(payload.load(config_map | {"binaryData": dict(binary), "data": dict(texts)}))


_parsed_small, _parsed_large = lru_cache(maxsize=32)(_parse), lru_cache(maxsize=8)(_parse)


def _items(content: Mapping[str, str]) -> _Items:
    return tuple(sorted(content.items()))
