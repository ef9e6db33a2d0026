"""Catalogs written in a few lines, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from shared.domain.catalog.config import Config, read_config

WRITTEN = Path(__file__).with_name("written")


def written(name: str) -> Config:
    """A catalog of the folder `written`."""
    return read_config([(name, (WRITTEN / name).read_bytes())])


def a_catalog(*documents: dict[str, Any]) -> Config:
    """The catalog of some documents."""
    return read_config([("catalog.yaml", yaml.safe_dump_all(documents).encode())])


def a_package(name: str = "tea", default_channel: str = "stable") -> dict[str, Any]:
    return {"schema": "olm.package", "name": name, "defaultChannel": default_channel}


def a_channel(*entries: dict[str, Any], name: str = "stable", package: str = "tea") -> dict[str, Any]:
    return {"schema": "olm.channel", "name": name, "package": package, "entries": list(entries)}


def a_bundle(name: str, version: str, package: str = "tea", **fields: Any) -> dict[str, Any]:
    identity = {"type": "olm.package", "value": {"packageName": package, "version": version}}
    properties = [identity, *fields.pop("properties", ())]
    image = f"quay.io/acme/{name}:{version.replace('+', '-')}"
    return {"schema": "olm.bundle", "name": name, "package": package, "image": image, "properties": properties} | fields


def an_embedded(manifest: dict[str, Any]) -> dict[str, Any]:
    """The property that embeds a manifest."""
    import base64
    import json

    return {"type": "olm.bundle.object", "value": {"data": base64.b64encode(json.dumps(manifest).encode()).decode()}}


def a_csv(name: str = "tea.v1", **spec: Any) -> dict[str, Any]:
    return {"kind": "ClusterServiceVersion", "metadata": {"name": name}, "spec": spec}
