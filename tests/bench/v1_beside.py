"""OLM v1's own programs beside ours: `python -m tests.bench.v1_beside --checkout DIR [--programs DIR] [SIDE …]`.

The checkout is of operator-framework/operator-controller, which has catalogd in it. Each side has a fresh real API
server, the same registry, and rolls the same bundles out: ours, theirs with Helm (their standard manifest), theirs with
boxcutter (their experimental one). Prints a table. `--extensions` says how many rest together.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

from shared.api.manifest import Manifest
from shared.kinds import CLUSTER_CATALOG, CLUSTER_EXTENSION
from tests.bench import serving, v1_images, v1_programs, v1_sides
from tests.bench.audit import Line
from tests.bench.made_bundles import ALWAYS
from tests.bench.processors import mark, resident, seconds_of
from tests.bench.requests import STEADY_SECONDS
from tests.bench.rollouts import MANY, TEN
from tests.bench.v1_sides import Side
from tests.conformance.lifecycle.test_cluster_catalogs import a_catalog
from tests.conformance.lifecycle.test_extensions import CATALOG, an_extension
from tests.kit.installation import a_namespace, condition
from tests.kit.waiting import pause_after, wait_for

PATIENCE_SECONDS, RETRIES_SECONDS = 300.0, 60.0
"""For an extension, and for one that says that it is tried again."""
SLOW_RATE = 40
"""Requests a second, which wait for nobody."""
NAME_LABEL = "olm.operatorframework.io/metadata.name"
PROCESSORS = "processor time of the programs until then; of the API server"
Measured = tuple[str, str]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.v1_beside", description=__doc__)
    parser.add_argument("--checkout", type=Path, required=True, help="their sources")
    parser.add_argument("--programs", type=Path, help="folder of their programs, built when they are not there")
    parser.add_argument("--extensions", type=int, default=200, help="how many rest together")
    parser.add_argument("sides", nargs="*", default=[v1_sides.OURS, *v1_programs.ENGINES])
    options = parser.parse_args()
    found: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as place:
        folder, checkout = Path(place), options.checkout.resolve()
        programs = (options.programs or folder / "programs").resolve()
        v1_programs.build(checkout, programs)
        with v1_images.registry(folder / "images", options.extensions) as (host, registries):
            for name in options.sides:
                (folder / name).mkdir()
                with v1_sides.running(name, folder / name, checkout, programs, registries) as side:
                    found[name] = dict(_noted(name, _measured(side, host, options.extensions)))
    rows = dict.fromkeys(row for each in found.values() for row in each)
    table = [["", *found], ["---"] * (1 + len(found))]
    table += [[row, *(each.get(row, "") for each in found.values())] for row in rows]
    sys.stdout.write("\n" + "".join(f"| {' | '.join(line)} |\n" for line in table))


def _noted(name: str, rows: Iterator[Measured]) -> Iterator[Measured]:
    for row in rows:
        sys.stderr.write(f"{name}: {row[0]}: {row[1]} (load {os.getloadavg()[0]:.1f})\n")
        yield row


def _measured(side: Side, host: str, extensions: int) -> Iterator[Measured]:
    _serve(side, CATALOG.name, f"{host}/{v1_images.MADE}:v1")
    yield from _one(side, v1_images.SMALL_PACKAGE, ALWAYS + len(TEN))
    yield from _one(side, v1_images.SPREAD_PACKAGE, v1_images.SPREAD)
    yield from _one(side, v1_images.LARGE_PACKAGE, MANY)
    yield f"{MANY} objects: most memory of a process that rolls out", f"{v1_sides.peak(side.rolls_out)} MiB"
    yield from _together(side, extensions)
    yield from _large_catalog(side, host)
    yield from _metas(side)


def _serve(side: Side, name: str, image: str) -> str:
    """Where a new catalog is served; its label is what catalogd's webhook would write."""
    made = a_catalog(name, image)
    made["metadata"]["labels"] = {NAME_LABEL: name}
    side.cluster.apply(made, field_manager="bench")
    ref = CLUSTER_CATALOG.ref(name)
    wait_for(lambda: _is(side.cluster.get(ref), "Serving"), f"{name} to be served", seconds=PATIENCE_SECONDS)
    found = side.cluster.get(ref) or {}
    return str(found["status"]["urls"]["base"])


def _one(side: Side, package: str, objects: int) -> Iterator[Measured]:
    side.cluster.apply(a_namespace(package), field_manager="bench")
    side.settle()
    asked, spent, started = side.asked_since(), _processors(side), time.perf_counter()
    _extend(side, package)
    problem = _until_installed(side, package)
    took, used, found = time.perf_counter() - started, spent(), asked()
    end = 1 + max((at for at, one in enumerate(found) if f"{package}/status" in one.uri), default=-1)
    yield f"{objects} objects: to `Installed`", problem or f"{took:.1f} s"
    yield f"{objects} objects: requests until then; writes", f"{end}; {_writes(found[:end])}"
    yield f"{objects} objects: {PROCESSORS}", used
    side.settle()
    yield f"{objects} objects: requests until nothing is asked; writes", f"{len(asked())}; {_writes(asked())}"
    if problem:
        side.cluster.delete(CLUSTER_EXTENSION.ref(package))  # why: it would be tried again while others are measured
        side.settle()


def _processors(side: Side) -> Callable[[], str]:
    """What answers with the processor time since now: of the programs, and of the API server."""
    before, every = seconds_of(*side.programs), mark()
    return lambda: f"{seconds_of(*side.programs) - before:.1f} s; {every()['kube-apiserver']:.1f} s"


def _extend(side: Side, package: str) -> None:
    side.cluster.apply(an_extension(package, package, package), field_manager="bench")


def _until_installed(side: Side, package: str) -> str:
    """Empty, or what it says after a long time."""
    began = tried = time.monotonic()
    while (now := time.monotonic()) - began < PATIENCE_SECONDS:
        found = side.cluster.get(CLUSTER_EXTENSION.ref(package))
        if _is(found, "Installed"):
            return ""
        progress = condition(found or {}, "Progressing")
        tried = tried if progress.get("reason") == "Retrying" else now
        if now - tried > RETRIES_SECONDS:
            return f"refused: {progress['message']}"
        time.sleep(pause_after(now - began))
    return f"not within {PATIENCE_SECONDS:.0f} s"


def _together(side: Side, count: int) -> Iterator[Measured]:
    """Many extensions: until each is installed, and a minute of rest."""
    packages = [v1_images.few(one) for one in range(count)]
    for package in packages:
        side.cluster.apply(a_namespace(package), field_manager="bench")
    asked, spent, started = side.asked_since(), _processors(side), time.perf_counter()
    for package in packages:
        _extend(side, package)
    problems = [problem for package in packages if (problem := _until_installed(side, package))]
    took, used = time.perf_counter() - started, spent()
    yield f"{count} extensions of {ALWAYS} objects: to the last `Installed`", "; ".join([f"{took:.0f} s", *problems])
    yield f"{count} extensions: requests until then; writes", f"{len(asked())}; {_writes(asked())}"
    yield f"{count} extensions: {PROCESSORS}", used
    side.settle()
    for when in ("first", "third"):
        asked, spent = side.asked_since(), _processors(side)
        time.sleep(STEADY_SECONDS)
        yield f"{count} extensions, the {when} {STEADY_SECONDS} s of rest: writes; reads", _split(asked())
        yield f"{count} extensions, the {when} {STEADY_SECONDS} s of rest: processor time; of the API server", spent()
        time.sleep(STEADY_SECONDS)
    yield f"{count} extensions: memory of all their programs", f"{sum(map(resident, side.programs)) >> 20} MiB"


def _large_catalog(side: Side, host: str) -> Iterator[Measured]:
    spent, started = seconds_of(*side.programs), time.perf_counter()
    found = urlsplit(_serve(side, v1_images.LARGE, f"{host}/{v1_images.LARGE}:v1"))
    serving.ready(found.port or 0, _path(), "identity", str(side.authority) if found.scheme == "https" else "")
    took = time.perf_counter() - started
    yield "a catalog of 200 MB: from its object to an answer, pull and all", f"{took:.1f} s"
    side.settle()
    yield "a catalog of 200 MB: processor time of their programs", f"{seconds_of(*side.programs) - spent:.1f} s"
    yield "a catalog of 200 MB: most memory of a process", f"{v1_sides.peak(side.programs)} MiB"


def _path() -> str:
    return f"/catalogs/{v1_images.LARGE}/api/v1/metas?package={v1_images.average_package()}"


def _metas(side: Side) -> Iterator[Measured]:
    """As page `serving` asks, over TLS."""
    path, (ports, pids) = _path(), side.serving()
    for port in ports:
        serving.ready(port, path, "gzip", str(side.authority))
    for rate, coding in ((SLOW_RATE, "identity"), (serving.RATE, "identity"), (serving.RATE, "gzip")):
        with ExitStack() as stack:
            spent = seconds_of(*pids)
            asked = [ports[one % len(ports)] for one in range(serving.PROCESSES)]
            words = [(serving.CLIENT, str(port), path, coding, str(side.authority), str(rate)) for port in asked]
            clients = [stack.enter_context(serving.started(*each)) for each in words]
            took = sorted(seconds for one in clients for seconds in json.loads(serving.line_of(one)))
            spent = seconds_of(*pids) - spent
        what = f"`/metas` of a package, {coding}, {rate} a second"
        yield f"{what}: answered a second", f"{len(took) / serving.SECONDS:.0f}"
        yield f"{what}: p50; p99", "; ".join(f"{1000 * took[len(took) * each // 100]:.1f} ms" for each in (50, 99))
        yield f"{what}: processor time of a request", f"{1000 * spent / len(took):.2f} ms"


def _is(found: Manifest | None, kind: str) -> bool:
    return condition(found or {}, kind).get("status") == "True"


def _writes(asked: Sequence[Line]) -> int:
    return sum(not one.is_read for one in asked)


def _split(asked: Sequence[Line]) -> str:
    """Writes and reads, and what they were of."""
    counted = Counter(f"{one.verb} {'/'.join(urlsplit(one.uri).path.split('/')[-2:])}" for one in asked)
    if os.environ.get("OLMF_BENCH_LIST"):
        sys.stderr.writelines(f"{one.at:.1f} {one.agent} {one.verb} {one.uri}\n" for one in asked)
    named = ", ".join(f"{count} {what}" for what, count in counted.most_common(3))
    return f"{_writes(asked)}; {len(asked) - _writes(asked)}" + (f" ({named})" if named else "")


if __name__ == "__main__":
    main()
