"""What OLM v1's decisions cost: on the community catalog, and on the largest real bundle."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Final

import yaml

from eventing.cli.extension.files import offer_in
from eventing.cli.inputs.bundle import read
from shared.adapters.content.anywhere import snapshot_at
from shared.adapters.content.snapshot import Snapshot
from shared.adapters.content.store import Store
from shared.domain.bundle.model import Files
from shared.domain.crd_safety.upgrade import problems
from shared.domain.extension.model import CatalogView, Request, Resolution
from shared.domain.extension.render.load import load
from shared.domain.extension.render.model import RenderOptions
from shared.domain.extension.render.render import render
from shared.domain.extension.resolve import resolve
from shared.domain.go import yaml as goyaml
from tests.bench.catalogs import BUNDLES, COMMUNITY
from tests.bench.row import Row
from tests.bench.timing import ROUNDS, best

EXTENSIONS: Final = 1000


def rows() -> Iterable[Row]:
    """Every row of this page; only those whose data is here."""
    if COMMUNITY.is_dir():
        yield from _resolving()
    else:
        sys.stdout.write(f"{COMMUNITY} is not here: no rows about extensions of a real catalog\n")
    if BUNDLES.is_dir():
        yield from _rendering()
        yield from _comparing()
    else:
        sys.stdout.write(f"{BUNDLES} is not here: no rows about rendering real bundles\n")


def _resolving() -> Iterable[Row]:
    with tempfile.TemporaryDirectory() as folder:
        snapshot = snapshot_at(str(COMMUNITY), Store(Path(folder)))
        slowest = max(best(partial(_resolved, snapshot, name)) for name in snapshot.names)
        yield Row("one extension, of the slowest package", 1000 * slowest, 5, "ms")
        names = list(islice(cycle(snapshot.names), EXTENSIONS))
        all_of_them = best(lambda: [_resolved(snapshot, name) for name in names])
        yield Row(f"{EXTENSIONS:,} extensions", all_of_them, 3, "s")


def _resolved(snapshot: Snapshot, name: str) -> Resolution:
    """From an open snapshot, with nothing remembered."""
    return resolve(Request(name), None, [CatalogView("c", offer=offer_in(snapshot, name, has_releases=False))])


def _rendering() -> Iterable[Row]:
    files = max(_bundles(), key=lambda found: sum(map(len, found.values())))
    size = sum(map(len, files.values())) / 1e6
    texts = [content for path, content in files.items() if path.endswith(".yaml")]
    ours = best(lambda: load(files))
    theirs = best(lambda: [yaml.load(text, Loader=yaml.CSafeLoader) for text in texts])
    yield Row(f"loading the largest bundle, {size:.0f} MB, against PyYAML's C loader", ours / theirs, 0.5, "times")
    options = RenderOptions("somewhere", None, "cert-manager", {})
    fresh = [load(files) for _ in range(ROUNDS)]
    yield Row("rendering it", 1000 * best(lambda: render(fresh.pop(), options)), 50, "ms")


def _bundles() -> Iterator[Files]:
    return (read(folder.parent, str(folder)) for folder in BUNDLES.rglob("manifests"))


def _comparing() -> Iterable[Row]:
    """The largest definition that two versions of an operator have."""
    new = max(BUNDLES.rglob("manifests/*.yaml"), key=lambda path: path.stat().st_size)
    old = max((path for path in BUNDLES.rglob(new.name) if path != new), key=lambda path: path.stat().st_size)
    texts = [path.read_bytes() for path in (old, new)]
    before, after = (goyaml.document(text) for text in texts)
    size = len(texts[1]) / 1e6
    reading = best(lambda: [goyaml.document(text) for text in texts])
    theirs = best(lambda: [yaml.load(text, Loader=yaml.CSafeLoader) for text in texts])
    yield Row(f"reading two definitions of {size:.0f} MB, against PyYAML's C loader", reading / theirs, 0.5, "times")
    yield Row(
        "comparing them, both ways", 1000 * best(lambda: (problems(before, after), problems(after, before))), 250, "ms"
    )


if __name__ == "__main__":
    for row in rows():
        print(row, flush=True)
