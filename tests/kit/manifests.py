"""The files of `k8s/` as they lie there; `tests/eventing/deploy/test_manifests.py` shows that they are current."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

K8S = Path(__file__).parents[2] / "k8s"
GENERATED = ("crds", "rbac", "base", "knative", "knative-oidc", "eventing", "keda", "extensions", "optional")
"""Folders where nothing is written by hand."""


def objects(*folders: str) -> list[Any]:
    """What these folders hold, each object once."""
    return [each for folder in folders for path in sorted((K8S / folder).iterdir()) for each in _read(path)]


@cache
def _read(path: Path) -> tuple[Any, ...]:
    """Read once, because many tests ask for the same; nobody changes what they get."""
    return tuple(yaml.load_all(path.read_text(), yaml.CSafeLoader))
