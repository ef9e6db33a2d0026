"""A small catalog as documents: the tea of fbc.md §14, and what it takes to change it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from shared.names import RESOLVED_CONTENT

POT = {"group": "tea.io", "version": "v1", "kind": "Pot"}


def a_bundle(version: str, *properties: dict[str, Any], package: str = "tea", image: str = "") -> dict[str, Any]:
    identity = {"type": "olm.package", "value": {"packageName": package, "version": version}}
    return {
        "schema": "olm.bundle",
        "package": package,
        "name": f"{package}.v{version}",
        "image": image or f"quay.io/acme/{package}:v{version}",
        "properties": [identity, *properties],
    }


def a_property(kind: str, value: Any) -> dict[str, Any]:
    return {"type": kind, "value": value}


def one(package: str, version: str) -> list[dict[str, Any]]:
    """A package of one version."""
    entry = {"name": f"{package}.v{version}"}
    return [
        {"schema": "olm.package", "name": package, "defaultChannel": "stable"},
        {"schema": "olm.channel", "package": package, "name": "stable", "entries": [entry]},
        a_bundle(version, package=package),
    ]


def tea() -> list[dict[str, Any]]:
    return [
        {"schema": "olm.package", "name": "tea", "defaultChannel": "stable"},
        {
            "schema": "olm.channel",
            "package": "tea",
            "name": "stable",
            "entries": [
                {"name": "tea.v1.0.0"},
                {"name": "tea.v1.1.0", "replaces": "tea.v1.0.0"},
                {
                    "name": "tea.v1.2.0",
                    "replaces": "tea.v1.0.0",
                    "skips": ["tea.v1.1.0"],
                    "skipRange": ">=1.0.0 <1.2.0",
                },
            ],
        },
        {"schema": "olm.channel", "package": "tea", "name": "fast", "entries": [{"name": "tea.v1.2.0"}]},
        a_bundle("1.0.0", a_property("olm.gvk", POT)),
        a_bundle("1.1.0"),
        a_bundle("1.2.0", a_property("olm.gvk", POT), a_property("olm.csv.metadata", {"displayName": "Tea"})),
        {
            "schema": "olm.deprecations",
            "package": "tea",
            "entries": [
                {"reference": {"schema": "olm.channel", "name": "fast"}, "message": "use stable"},
                {"reference": {"schema": "olm.bundle", "name": "tea.v1.0.0"}, "message": "too old"},
            ],
        },
    ]


def written(folder: Path, *documents: dict[str, Any], name: str = "catalog.json") -> Path:
    """The folder, with a file of the documents."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("".join(json.dumps(document) + "\n" for document in documents))
    return folder


def read_status(reference: str, state: str = "READY") -> dict[str, Any]:
    """The status of a CatalogSource of which this content was read."""
    return {
        "connectionState": {"lastObservedState": state},
        "conditions": [
            {
                "type": RESOLVED_CONTENT, "status": "True", "reason": "ContentRead", "message": reference,
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            },
        ],
    }  # fmt: skip
