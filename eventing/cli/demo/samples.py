"""Finds the sample bundles, which are in the source tree or in the wheel."""

from __future__ import annotations

import shutil
from pathlib import Path

_HERE = Path(__file__).parent
PLACES = (_HERE.parents[2] / "k8s" / "samples" / "bundles", _HERE.parent / "samples" / "bundles")


def samples() -> Path:
    """The folder with `<package>/<version>/{manifests,metadata}`. FileNotFoundError names the expected places."""
    for place in PLACES:
        if place.is_dir():
            return place
    raise FileNotFoundError(f"the sample bundles are neither in {PLACES[0]} nor in {PLACES[1]}")


def publish(folder: Path, *versions: str) -> None:
    """Copy `package/version` of the samples into a served folder."""
    for version in versions:
        shutil.copytree(samples() / version, folder / version)
