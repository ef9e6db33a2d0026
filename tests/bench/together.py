"""When each of many real packages ends that are installed together: `python -m tests.bench.together [sandbox|real]`."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from shared.kinds import CATALOG_SOURCE
from tests.bench.row import Row
from tests.conformance.packages.offers import ARCHIVE, Head, extracted, heads, prepare, subscribe
from tests.conformance.packages.verdicts import EXPECTED, NEEDS, verdict
from tests.conformance.targets import REAL, SANDBOX, running
from tests.kit.installation import Installation

PATIENCE_SECONDS = 300.0
POLL_SECONDS = 0.25
MEDIAN, FIRST = 0.6, 0.25
"""Parts of the time of the last one."""


def rows(targets: Iterable[str] = (SANDBOX, REAL)) -> Iterable[Row]:
    """Every row of this page."""
    if ARCHIVE.exists():
        for target in targets:
            yield from _rows(target)


def _rows(target: str) -> Iterator[Row]:
    ends = sorted(_ends(target).values())
    what = f"{len(ends)} packages at once, {target}"
    yield Row(f"{what}: the median, of the last", statistics.median(ends) / ends[-1], MEDIAN)
    yield Row(f"{what}: the first, of the last", ends[0] / ends[-1], FIRST)
    yield Row(f"{what}: the last", ends[-1], PATIENCE_SECONDS, "s")


def _ends(target: str) -> Mapping[str, float]:
    """Seconds from the first Subscription to the end of each package; without those that nothing is planned for."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with running(target, folder, "--bundles", str(extracted(folder))) as installation:
            installation.until(CATALOG_SOURCE.ref("local", "olm"), lambda each: "READY" in str(each["status"]), "READY")
            found = heads(installation.cluster, folder / "bundles")
            for head in found.values():
                prepare(installation, head)
            installation.until_it_rests()
            return watched(installation, found)


def watched(installation: Installation, found: Mapping[str, Head]) -> Mapping[str, float]:
    """Subscribe to the packages; seconds until the end of each."""
    started, ends = time.perf_counter(), dict[str, float]()
    for head in found.values():
        subscribe(installation, head)
    left = {package for package in found if NEEDS not in EXPECTED[package]}
    while left:
        for package in sorted(left):
            if EXPECTED[package] in verdict(installation, package, package, found[package].csv):
                ends[package] = time.perf_counter() - started
                left.remove(package)
        if time.perf_counter() - started > PATIENCE_SECONDS:
            raise TimeoutError(f"without an end after {PATIENCE_SECONDS} s: {sorted(left)}")
        time.sleep(POLL_SECONDS)
    return ends


if __name__ == "__main__":
    for row in rows(sys.argv[1:] or (SANDBOX, REAL)):
        print(row, flush=True)
