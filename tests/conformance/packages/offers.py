"""The real bundles: where they come from, and what the head of each default channel supports."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from eventing.packages.listing import offered
from shared.adapters.kube import KubeClient
from shared.api.manifest import Manifest

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
        if "ClusterServiceVersion" in (text := path.read_text()):
            documents = yaml.load_all(text, Loader=yaml.CSafeLoader)  # why: the C form of the safe loader
            yield from (each for each in documents if each and each.get("kind") == "ClusterServiceVersion")


def heads(cluster: KubeClient, bundles: Path) -> dict[str, Head]:
    """Package to the head of its default channel, as the catalog that the cluster serves has it."""
    modes = {
        csv["metadata"]["name"]: frozenset(mode["type"] for mode in csv["spec"]["installModes"] if mode["supported"])
        for csv in versions(bundles)
    }
    rows = [row for row in offered(cluster) if "(default)" in str(row["channel"])]
    found = (Head(str(row["package"]), head := str(row["version"]), modes[head]) for row in rows)
    return {head.package: head for head in found}
