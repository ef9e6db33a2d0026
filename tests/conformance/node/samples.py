"""Pushes the sample bundles, and a catalog made of them: `python -m tests.conformance.node.samples REGISTRY IMAGE`.

REGISTRY is where they are pushed to by plain HTTP; Pods know it as quay.io. IMAGE is the catalog, by its path there.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import orjson

from eventing.local.image_registry.folder import BundleFolder
from shared.domain.authoring.from_bundles import Published, from_bundles
from tests.kit.installation import SAMPLES, olmf

KNOWN_AS = "quay.io"


def main(registry: str, image: str) -> None:
    """Push all."""
    roots = (SAMPLES, SAMPLES.parent / "webhooks")
    documents, findings = from_bundles(
        pushed(registry, folder) for root in roots for folder in sorted(root.glob("*/*"))
    )
    assert not findings, findings
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "catalog"
        folder.mkdir()
        (folder / "catalog.json").write_bytes(b"\n".join(map(orjson.dumps, documents)))
        olmf("catalog", "build", str(folder), f"{registry}/{image}", "--use-http")


def pushed(registry: str, folder: Path) -> Published:
    """A bundle, as it is pushed."""
    package, version = folder.parent.name, folder.name
    where = f"samples/{package}-bundle:{version}"
    digest = (
        olmf("bundle", "build", str(folder), "-t", f"{registry}/{where}", "--use-http")
        .stdout.strip()
        .rpartition("@")[2]
    )
    found, _ = BundleFolder(folder, where, version).offer()
    assert found, folder
    return Published(found, f"{KNOWN_AS}/samples/{package}-bundle@{digest}", str(folder))


if __name__ == "__main__":
    main(*sys.argv[1:3])
