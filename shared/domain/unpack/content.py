"""Parses the bundle in an unpack ConfigMap, once for the same content."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from shared.api.manifest import Manifest, ReadOnly, annotations_of, name_of
from shared.domain.bundle import payload
from shared.domain.bundle.model import BadBundle, UnpackedBundle
from shared.domain.objects.plan_record import of_bundle
from shared.domain.objects.subscription import installed_csv
from shared.domain.resolver.model import Chosen
from shared.domain.unsupported import VERSION, unsupported

_Items = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ExpectedBundle:
    """What is known of a bundle before it is read."""

    csv: str = ""
    """The name that its catalog gives it; empty accepts any."""
    installed: str = ""
    """The installed version that it is to replace; empty for a new installation."""

    @classmethod
    def of(cls, chosen: Chosen, subscriptions: Iterable[ReadOnly]) -> ExpectedBundle:
        """What the resolution and the Subscriptions of the namespace say about a chosen bundle."""
        installed = (installed_csv(one) for one in subscriptions if name_of(one) in chosen.subscribers)
        return cls(chosen.bundle.name, next(filter(None, installed), ""))


ANY: Final = ExpectedBundle()


def bundle_in(config_map: ReadOnly, expected: ExpectedBundle = ANY) -> UnpackedBundle | BadBundle:
    """The bundle, or why it is not to be installed. Callers share the answer: do not change it in place."""
    encoding = annotations_of(config_map).get(payload.ENCODING, "")
    contents = (_items(config_map, "binaryData"), _items(config_map, "data"))
    found = _parsed(name_of(config_map), encoding, *contents)
    if isinstance(found, BadBundle):
        return found
    image = annotations_of(config_map).get(payload.SOURCE_IMAGE, "the image of the bundle")
    return _broken(expected, found, image) or found


def _broken(expected: ExpectedBundle, found: UnpackedBundle, image: str) -> BadBundle | None:
    """Why a valid bundle is not the promised one. OLM installs it all the same.

    It then waits for ever for the promised name; and an update whose webhooks nobody serves would stop the operator
    that works, so that until webhooks are supported the installed version stays.
    """
    csv = name_of(found.csv)
    if expected.csv not in ("", csv):
        what = f"{image} holds ClusterServiceVersion {csv}, but its catalog names it {expected.csv}"
        return BadBundle("Malformed", f"{what}; correct the catalog, or publish the bundle as another image")
    if expected.installed not in ("", csv) and (lacking := unsupported(VERSION, found.csv)):
        return BadBundle("Unsupported", f"{csv}: {lacking}; {expected.installed} stays installed")
    return None


def digest_in(config_map: ReadOnly) -> str:
    """The digest of the bundle; empty when there is none in it."""
    encoding = annotations_of(config_map).get(payload.ENCODING, "")
    return _digest(name_of(config_map), encoding, _items(config_map, "binaryData"), _items(config_map, "data"))


@lru_cache(maxsize=8)
def _digest(name: str, encoding: str, binary: _Items, texts: _Items) -> str:
    found = _parsed(name, encoding, binary, texts)
    return "" if isinstance(found, BadBundle) else of_bundle(found)


@lru_cache(maxsize=8)  # the steps of one install parse the same bundle four times within a second
def _parsed(name: str, encoding: str, binary: _Items, texts: _Items) -> UnpackedBundle | BadBundle:
    annotations = {payload.ENCODING: encoding} if encoding else {}
    config_map: Manifest = {"metadata": {"name": name, "annotations": annotations}}
    return payload.load(config_map | {"binaryData": dict(binary), "data": dict(texts)})


def _items(config_map: ReadOnly, field: str) -> _Items:
    return tuple(sorted((config_map.get(field) or {}).items()))
