"""When each of many real packages ends that are installed together: `python -m tests.bench.together [sandbox|real]`."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from shared.adapters.kube.paths import path_of
from shared.api.manifest import Manifest
from shared.kinds import CATALOG_SOURCE, CLUSTER_SERVICE_VERSION, INSTALL_PLAN, SUBSCRIPTION
from shared.names import COPIED_FROM
from tests.bench import plain_client, processors
from tests.bench.row import Row
from tests.conformance.packages.offers import Head, heads, prepare, subscribe
from tests.conformance.packages.results import EXPECTED, NEEDS
from tests.conformance.targets import REAL, SANDBOX, running
from tests.kit.installation import Installation
from tests.kit.real_bundles import ARCHIVE, extracted

PATIENCE_SECONDS = 300.0
POLL_SECONDS = 0.25
LAST_SECONDS, LAST_TIMES = 30.0, 1.4
"""Bars of the last one: seconds, and times what a plain client needs."""
MEDIAN, FIRST = 0.6, 0.25
"""Parts of the time of the last one."""
SILENT_SECONDS = 5.0
OF_A_PACKAGE = (SUBSCRIPTION, INSTALL_PLAN, CLUSTER_SERVICE_VERSION)
_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
"""One line of each object, without its body: the bench asks often, and should cost the server little."""


@dataclass(frozen=True, slots=True)
class Course:
    """How the installs went, in seconds since the first Subscription."""

    ends: Mapping[str, float]
    """The end of each package."""
    silence: float
    """The longest time in which nothing of one package changed."""


def rows(targets: Iterable[str] = (SANDBOX, REAL)) -> Iterable[Row]:
    """Every row of this page."""
    if ARCHIVE.exists():
        for target in targets:
            yield from _rows(target)


def _rows(target: str) -> Iterator[Row]:
    course, objects = _course(target)
    ends = sorted(course.ends.values())
    what = f"{len(ends)} packages at once, {target}"
    yield Row(f"{what}: the median, of the last", statistics.median(ends) / ends[-1], MEDIAN)
    yield Row(f"{what}: the first, of the last", ends[0] / ends[-1], FIRST)
    yield Row(f"{what}: the last", ends[-1], LAST_SECONDS, "s")
    yield Row(f"{what}: the longest silence", course.silence, SILENT_SECONDS, "s")
    if target == REAL:
        plain = plain_client.seconds(objects)
        yield Row(f"{what}: a plain client makes {len(objects)} objects", plain, LAST_SECONDS, "s")
        yield Row(f"{what}: the last, against it", ends[-1] / plain, LAST_TIMES, "times")


def _course(target: str) -> tuple[Course, tuple[Manifest, ...]]:
    """How it went, and what there is when nothing is left to do."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with running(target, folder, "--bundles", str(extracted(folder))) as installation:
            installation.until(CATALOG_SOURCE.ref("local", "olm"), lambda each: "READY" in str(each["status"]), "READY")
            found = heads(installation.cluster, folder / "bundles")
            for head in found.values():
                prepare(installation, head)
            installation.until_it_rests()
            before, used = plain_client.present(installation.cluster), processors.mark(installation)
            course = watched(installation, found)
            print(f"processor time until the last: {processors.reported(used())}", file=sys.stderr)
            installation.until_it_rests(PATIENCE_SECONDS)  # hundreds of copies come after the last end
            return course, plain_client.made(installation.cluster, before)


def watched(installation: Installation, found: Mapping[str, Head]) -> Course:
    """Subscribe to the packages, and look until each has ended; without those that nothing is planned for."""
    started, ends, silence = time.perf_counter(), dict[str, float](), 0.0
    for head in found.values():
        subscribe(installation, head)
    left = {package for package in found if NEEDS not in EXPECTED[package]}
    changed: dict[str, tuple[float, object]] = {}
    while left:
        lines, now = _lines(installation), time.perf_counter() - started
        for package in sorted(left):
            of_it = [(name, version) for (namespace, name), (version, _) in lines.items() if namespace == package]
            since, before = changed.get(package, (now, of_it))
            silence = max(silence, now - since)
            changed[package] = (since, before) if before == of_it and package in changed else (now, of_it)
            if EXPECTED[package] in lines.get((package, found[package].csv), ("", ()))[1]:
                ends[package] = now
                left.remove(package)
        if now > PATIENCE_SECONDS:
            raise TimeoutError(f"without an end after {PATIENCE_SECONDS} s: {sorted(left)}")
        time.sleep(POLL_SECONDS)
    return Course(ends, silence)


def _lines(installation: Installation) -> Mapping[tuple[str, str], tuple[str, tuple[object, ...]]]:
    """Namespace and name of each Subscription, plan and version, to resourceVersion and what a person sees of it."""
    found = {}
    for kind in OF_A_PACKAGE:
        query = {"labelSelector": f"!{COPIED_FROM}", "resourceVersion": "0"}
        for row in installation.cluster.request("GET", path_of(kind), query=query, accept=_TABLE)["rows"]:
            meta = row["object"]["metadata"]
            found[meta["namespace"], meta["name"]] = (meta["resourceVersion"], tuple(row["cells"]))
    return found


if __name__ == "__main__":
    for row in rows(sys.argv[1:] or (SANDBOX, REAL)):
        print(row, flush=True)
