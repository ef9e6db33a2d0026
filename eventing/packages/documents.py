"""The JSON of the API: what it serves (discovery), lists, tables, and failures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

import orjson

from shared.api.manifest import Manifest
from shared.domain.serving.package_list import COLUMNS, Listed
from shared.domain.serving.package_manifest import API_VERSION, KIND

GROUP, VERSION = API_VERSION.split("/")
RESOURCE: Final = "packagemanifests"
_GROUP_VERSION: Final = {"groupVersion": API_VERSION, "version": VERSION}
API_GROUP: Final[Manifest] = {
    "kind": "APIGroup", "apiVersion": "v1", "name": GROUP, "versions": [_GROUP_VERSION],
    "preferredVersion": _GROUP_VERSION,
}  # fmt: skip
API_GROUPS: Final[Manifest] = {"kind": "APIGroupList", "apiVersion": "v1", "groups": [API_GROUP]}
API_RESOURCES: Final[Manifest] = {
    "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": API_VERSION,
    "resources": [
        {
            "name": RESOURCE, "singularName": "packagemanifest", "namespaced": True, "kind": KIND,
            "verbs": ["get", "list", "watch"],
        },
        {"name": f"{RESOURCE}/icon", "singularName": "", "namespaced": True, "kind": KIND, "verbs": ["get"]},
    ],
}  # fmt: skip


def listing(packages: Sequence[Listed], namespace: str, version: str) -> Iterator[bytes]:
    """A PackageManifestList, part by part."""
    head = {"kind": f"{KIND}List", "apiVersion": API_VERSION, "metadata": {"resourceVersion": version}}
    return _with_items(head, "items", (one.json(namespace) for one in packages))


def _with_items(head: Manifest, name: str, items: Iterable[bytes]) -> Iterator[bytes]:
    yield orjson.dumps(head)[:-1] + f',"{name}":['.encode()
    for number, item in enumerate(items):
        yield b"," + item if number else item
    yield b"]}"


def table(
    packages: Sequence[Listed], namespace: str, version: str, *,
    now: datetime, include: str = "Metadata", has_columns: bool = True,
) -> Iterator[bytes]:  # fmt: skip
    """The same as a Table; each row carries the metadata, the whole object (`Object`) or nothing (`None`)."""
    rows = (
        {"cells": one.cells(now), "object": orjson.Fragment(_included(one, namespace, include))} for one in packages
    )
    head = {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": version},
        "columnDefinitions": COLUMNS if has_columns else [],
    }
    return _with_items(head, "rows", map(orjson.dumps, rows))


def _included(package: Listed, namespace: str, include: str) -> bytes:
    if include == "None":
        return b"null"
    if include == "Object":
        return package.json(namespace)
    meta = package.for_namespace(namespace)
    return orjson.dumps({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": meta})


def failure(code: int, reason: str, message: str, *, name: str = "") -> bytes:
    """A Status that says what went wrong."""
    details = {"details": {"name": name, "group": GROUP, "kind": RESOURCE}} if name else {}
    return orjson.dumps(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
            "reason": reason,
            **details,
            "code": code,
        }
    )
