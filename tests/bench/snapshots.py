"""What an index of a real catalog costs: made, renewed, opened, served. Needs the community catalog."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import orjson

from shared.adapters.content.snapshot import Older, Snapshot, Source, identity_of
from shared.adapters.content.snapshot.writing import write
from tests.bench.row import Row
from tests.bench.timing import best, of_children

COMMUNITY: Final = Path(__file__).parents[3] / "data" / "community" / "community"
"""331 packages, 194 MB: `../shared/data/community-catalog.tar.zst`, unpacked to `../data/community`."""


def rows() -> Iterable[Row]:
    """Every row of this page; none where the catalog is not here."""
    if not COMMUNITY.is_dir():
        sys.stdout.write(f"{COMMUNITY} is not here: no rows about a real catalog\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        yield from _of_catalog(Path(folder))
        yield from _whole_processes(Path(folder))


def _of_catalog(folder: Path) -> Iterable[Row]:
    sources = [Source(path.parent.name, path, identity_of(path)) for path in sorted(COMMUNITY.rglob("*.json"))]
    parse = parsing(sources)
    index = best(lambda: _write(folder / "first", sources))
    yield Row("indexing the community catalog, against orjson alone", index / parse, 3, "times")
    yield Row("memory that indexing it adds", _added_megabytes(folder), 200, "MB")
    first = Snapshot.open(folder / "first", lambda name: folder / name)
    average = _average(sources)
    changed = [Source(one.path, one.file, "changed") if one == average else one for one in sources]
    renew = best(lambda: _write(folder / "second", changed, Older("first", first)))
    yield Row("indexing it again with a package of average size changed", 100 * renew / index, 2, "%")
    opened = best(lambda: Snapshot.open(folder / "second", lambda name: folder / name))
    yield Row("opening its snapshot", 1000 * opened, 30, "ms")
    largest = max(first.entries, key=lambda name: first.entries[name].channels.length)
    yield Row("reading the channels of its largest package", 1000 * best(lambda: first.channels(largest)), 5, "ms")


def _write(path: Path, sources: list[Source], older: Older | None = None) -> None:
    with path.open("wb") as stream:
        write(stream, sources, folder=str(COMMUNITY), older=older)


def _average(sources: list[Source]) -> Source:
    sizes = {one: one.file.stat().st_size for one in sources}
    return min(sources, key=lambda one: abs(sizes[one] - sum(sizes.values()) / len(sizes)))


def parsing(sources: list[Source] | None = None) -> float:
    """Seconds that orjson needs for all documents, read and cut before."""
    files = sorted(COMMUNITY.rglob("*.json")) if sources is None else [one.file for one in sources]
    documents = [one for file in files for one in _documents(file)]

    def parse() -> None:
        for document in documents:
            orjson.loads(document)

    return best(parse)


def _documents(file: Path) -> Iterable[bytes]:
    first, *others = file.read_bytes().split(b"\n}\n{")
    pieces = [first, *(b"{" + one for one in others)]
    return [*(one + b"}" for one in pieces[:-1]), pieces[-1]]


_MEMORY: Final = """
import sys
from pathlib import Path
from shared.adapters.content.folders import snapshot_of
from shared.adapters.content.store import Store
import shared.adapters.content.snapshot.writing
def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
before = peak()
snapshot_of(Path(sys.argv[1]), Store(Path(sys.argv[2])))
print((peak() - before) / 1024)
"""


def _added_megabytes(folder: Path) -> float:
    command = [sys.executable, "-c", _MEMORY, str(COMMUNITY), str(folder / "memory")]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _whole_processes(folder: Path) -> Iterable[Row]:
    environment = {**os.environ, "OLMF_CONTENT": str(folder / "content")}
    olmf = shutil.which("olmf", path=str(Path(sys.executable).parent)) or "olmf"

    def listing() -> None:
        command = [olmf, "catalog", "list", "channels", str(COMMUNITY)]
        subprocess.run(command, env=environment, check=True, capture_output=True)

    listing()
    yield Row("`olmf catalog list channels` of it, cached", best(listing, clock=of_children), 0.3, "s")
    before, command = of_children(), [olmf, "catalog", "serve", str(COMMUNITY), "-p", "0"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        output = server.stderr.readline()
        status = Path(f"/proc/{server.pid}/status").read_text()
        server.terminate()
    assert output.startswith("serving"), output
    yield Row("serving it over gRPC, from the start of the process", of_children() - before, 1, "s")
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    yield Row("memory of the process that serves it", peak / 1024, 100, "MB")
