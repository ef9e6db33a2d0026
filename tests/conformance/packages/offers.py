"""The real bundles: where they come from, and what the head of each default channel supports."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from eventing.diagnosis.status.listing import offered
from shared.adapters.kube import KubeClient
from shared.api.manifest import Manifest
from shared.domain.go import yaml as goyaml

ARCHIVE = Path(__file__).parents[4] / "shared" / "data" / "bundles.tar.zst"


@dataclass(frozen=True, slots=True)
class Head:
    """The head of the default channel of a package."""

    package: str
    csv: str
    modes: frozenset[str]
    """The install modes that it supports."""


def extracted(folder: Path) -> Path:
    """The bundles below a folder, as `<package>/<version>/{manifests,metadata}`."""
    subprocess.run(["tar", "--zstd", "-xf", str(ARCHIVE), "-C", str(folder)], check=True)
    return folder / "bundles"


def versions(bundles: Path) -> Iterator[Manifest]:
    """Every ClusterServiceVersion of the bundles."""
    for path in sorted(bundles.glob("*/*/manifests/*")):
        manifest = goyaml.load_value(path.read_bytes())
        if isinstance(manifest, dict) and manifest.get("kind") == "ClusterServiceVersion":
            yield manifest


def heads(cluster: KubeClient, bundles: Path) -> dict[str, Head]:
    """Package to the head of its default channel, as the catalog that the cluster serves has it."""
    modes = {
        csv["metadata"]["name"]: frozenset(mode["type"] for mode in csv["spec"]["installModes"] if mode["supported"])
        for csv in versions(bundles)
    }
    rows = [row for row in offered(cluster) if row["default"]]
    found = (Head(str(row["package"]), head := str(row["version"]), modes[head]) for row in rows)
    return {head.package: head for head in found}
