"""What a PackageManifest says of the version at the head of a channel: `currentCSVDesc` (csv.md §13.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import Csv

_DEFINITION: Final = ("name", "version", "kind", "displayName", "description")
_API_SERVICE: Final = ("name", "group", "version", "kind", "displayName", "description")
_NATIVE: Final = ("group", "version", "kind")
_LINK: Final = ("name", "url")


def description(csv: Csv) -> Manifest:
    """The description, without icons; what the version does not say is left out."""
    spec = csv.spec
    found: dict[str, Any] = {
        **{key: fields.text(spec, key) for key in ("displayName", "version", "maturity", "description")},
        "provider": _texts_of(fields.part(spec, "provider"), _LINK),
        "annotations": dict(csv.annotations),
        "keywords": list(fields.texts(spec, "keywords")),
        "links": _each(spec, ("links",), _LINK),
        "maintainers": _each(spec, ("maintainers",), ("name", "email")),
        "installModes": [{"type": one.type, "supported": one.is_supported} for one in csv.install_modes],
        "customresourcedefinitions": _apis(spec, "customresourcedefinitions", _DEFINITION),
        "apiservicedefinitions": _apis(spec, "apiservicedefinitions", _API_SERVICE),
        "nativeApis": _each(spec, ("nativeAPIs",), _NATIVE),
        "minKubeVersion": csv.min_kube_version,
        "relatedImages": sorted(set(_images(csv))),
    }
    always = {"provider", "customresourcedefinitions", "apiservicedefinitions"}
    return {key: value for key, value in found.items() if value or key in always}


def provider(csv: Csv) -> Manifest:
    """`status.provider`: the name and the address of who provides the operator."""
    return _texts_of(fields.part(csv.spec, "provider"), _LINK)


def icon(csv: Csv) -> tuple[str, str]:
    """The first icon: its content in base64 and its media type; both empty without one."""
    found = next(iter(fields.parts(csv.spec, "icon")), fields.EMPTY)
    return fields.text(found, "base64data"), fields.text(found, "mediatype")


def _texts_of(raw: ReadOnly, keys: tuple[str, ...]) -> Manifest:
    return {key: text for key in keys if (text := fields.text(raw, key))}


def _each(raw: ReadOnly, path: tuple[str, ...], keys: tuple[str, ...]) -> list[Manifest]:
    return [_texts_of(one, keys) for one in fields.parts(raw, *path)]


def _apis(spec: ReadOnly, key: str, keys: tuple[str, ...]) -> Mapping[str, list[Manifest]]:
    found = {side: _each(spec, (key, side), keys) for side in ("owned", "required")}
    return {side: entries for side, entries in found.items() if entries}


def _images(csv: Csv) -> Iterator[str]:
    for deployment in csv.install.deployments:
        pod = fields.part(deployment.spec, "template", "spec")
        for one in (*fields.parts(pod, "initContainers"), *fields.parts(pod, "containers")):
            yield fields.text(one, "image")
    for one in fields.parts(csv.spec, "relatedImages"):
        yield fields.text(one, "image")
