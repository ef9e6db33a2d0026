"""The public bundles beside the repository: without them a test is skipped, and says so; with them it has to pass."""

from __future__ import annotations

import sys
import tarfile
from pathlib import Path

import pytest

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ARCHIVE = Path(__file__).parents[3] / "shared" / "data" / "bundles.tar.zst"
ABSENT = f"the real bundles are absent: there is no ../shared/data/{ARCHIVE.name} beside the repository"
needs_real_bundles = pytest.mark.skipif(not ARCHIVE.exists(), reason=ABSENT)


def extracted(folder: Path) -> Path:
    """Unpack the bundles; returns their folder: a package, a version, and its files."""
    with zstd.open(ARCHIVE) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # why: Python 3.11.2 has none
        archive.extractall(folder)
    return folder / "bundles"
