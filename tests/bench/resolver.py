"""What an answer of the resolver costs on the community catalog, from an open snapshot."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

from eventing.diagnosis.catalogs import reader_of_snapshot
from eventing.diagnosis.resolution import answering
from shared.adapters.content.anywhere import snapshot_at
from shared.adapters.content.snapshot import Snapshot
from shared.adapters.content.store import Store
from shared.domain.resolver.explain.choices import choices
from shared.domain.resolver.explain.fixes import explain, findings
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import Catalog, CatalogReader, Inputs, Subscriber
from shared.domain.resolver.request import ResolutionRequest
from shared.domain.resolver.resolve import resolution_of, resolve
from tests.bench.catalogs import COMMUNITY
from tests.bench.row import Row
from tests.bench.timing import best, of_children
from tests.domain.resolver.corpus import SITUATIONS, Situation
from tests.domain.resolver.scenery import (
    Blob,
    catalog,
    gives,
    line,
    needs,
    needs_package,
    package,
    releases,
    seen,
    sub,
)

KEY: Final = CatalogKey("olm", "community")
NAMESPACES: Final = 1000
_SINGLES: Final = 40
_TOGETHER: Final = 100
_WINDOWS: Final = 10
"""One window of neighbouring packages begins so many packages after the one before."""
_CLIQUE: Final = 500
_PROVIDERS: Final = 400
_NAMES: Final = [f"n{number}" for number in range(50)]


def rows() -> Iterable[Row]:
    """Every row of this page; those about a real catalog only when it is here."""
    yield Row("explaining the worst situation of the corpus", max(map(_explained, SITUATIONS.values())), 1000, "ms")
    yield Row("explaining why 50 Subscriptions get nothing newer", _whys(_passed()), 1000, "ms")
    yield Row("explaining why 50 Subscriptions get nothing", _whys(_torn()), 1000, "ms")
    yield Row("asking the same question again", _repeated(), 1, "ms")
    yield Row(f"{_CLIQUE} packages that all need each other", _took(lambda: resolve(_clique())), 10_000, "ms")
    if not COMMUNITY.is_dir():
        sys.stdout.write(f"{COMMUNITY} is not here: no rows about resolving from a real catalog\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        snapshot = snapshot_at(str(COMMUNITY), Store(Path(folder)))
        names = _solvable(snapshot)
        singles = [_took(partial(_resolved, snapshot, [name])) for name in names]
        yield Row(f"one Subscription (median of {_SINGLES})", statistics.median(singles[:_SINGLES]), 5, "ms")
        hundred = partial(_resolved, snapshot, names[:100])
        yield Row("100 Subscriptions", 1000 * best(hundred), 150, "ms")
        yield Row(f"{_TOGETHER} neighbours in the catalog, explained (worst)", max(_neighbours(snapshot)), 150, "ms")
        reader = reader_of_snapshot(snapshot)
        fives = [[names[(5 * number + each) % len(names)] for each in range(5)] for number in range(NAMESPACES)]
        whole = _took(lambda: [resolve(_inputs(reader, five)) for five in fives])
        yield Row(f"a namespace of 5, mean of {NAMESPACES}", whole / NAMESPACES, 10, "ms")
        yield Row("`olmf resolve` of a namespace, catalog cached", _whole_process(Path(folder), names[:5]), 0.5, "s")


def _solvable(snapshot: Snapshot) -> list[str]:
    """Packages whose head can be had by itself."""
    reader = reader_of_snapshot(snapshot)
    return list(islice((name for name in snapshot.names if resolve(_inputs(reader, [name])).chosen), 200))


def _resolved(snapshot: Snapshot, packages: Iterable[str]) -> None:
    """With nothing remembered."""
    resolve(_inputs(reader_of_snapshot(snapshot), packages))


def _neighbours(snapshot: Snapshot) -> Iterator[float]:
    """Milliseconds for each window: all are resolved, and what conflicts is explained. In most windows two do."""
    names = list(snapshot.names)
    starts = range(0, len(names) - _TOGETHER + 1, _WINDOWS)
    return (1000 * best(partial(_reported, snapshot, names[start : start + _TOGETHER])) for start in starts)


def _reported(snapshot: Snapshot, packages: Iterable[str]) -> None:
    """With nothing remembered."""
    asked = ResolutionRequest(_inputs(reader_of_snapshot(snapshot), packages))
    findings(asked, resolution_of(asked))


def _inputs(reader: CatalogReader, packages: Iterable[str]) -> Inputs:
    subscribers = tuple(Subscriber(name, name, "", KEY) for name in packages)
    return Inputs("ns", subscribers, catalogs={KEY: Catalog(KEY, reference="x")}, readers={KEY: reader})


def _explained(situation: Situation) -> float:
    """Milliseconds; the first round also loads the solver or the CEL library, so it is never the fastest."""
    return 1000 * best(lambda: explain(situation.inputs))


def _whys(inputs: Inputs) -> float:
    resolution = resolve(inputs)
    return _took(lambda: (explain(inputs, resolution), choices(inputs, resolution)))


def _passed() -> Inputs:
    """Of each package only the oldest version can be had."""
    lacks: dict[str, Any] = {f"v{number}": [needs("K"), needs("L")] for number in (2, 3, 4)}
    return _large(package(name, line(name, 4), v1=[needs("K")], **lacks) for name in _NAMES)


def _torn() -> Inputs:
    """Each package needs one of the providers, and another one than its neighbours."""

    def versions(index: int) -> dict[str, Any]:
        return {key: [needs("K"), needs_package(f"p{index}", ">=0.0.0")] for key in ("v1", "v2", "v3", "v4")}

    return _large(package(name, line(name, 4), **versions(index)) for index, name in enumerate(_NAMES))


def _large(desired: Iterable[list[Blob]]) -> Inputs:
    """Subscriptions to packages that need the same API, with many providers to choose from."""
    providers = (package(f"p{number}", line(f"p{number}", 1), v1=[gives("K")]) for number in range(_PROVIDERS))
    return seen(catalog(*providers, *desired), subs=list(map(sub, _NAMES)), whole=False)


def _repeated() -> float:
    question = {"namespace": "ns", "catalogs": [catalog(releases("a", 20))], "subscriptions": [sub("a")]}
    answer = answering(is_whole=True)
    answer(question)
    return min(_took(lambda: answer(question)) for _ in range(20))


def _clique() -> Inputs:
    """Each package needs all others, in any version."""
    return seen(catalog(*_members()), subs=[sub("p0")])


def _members() -> Iterator[list[Blob]]:
    all_others = [needs_package(f"p{number}", ">=0.0.0") for number in range(_CLIQUE)]
    return (package(f"p{number}", line(f"p{number}", 1), v1=all_others) for number in range(_CLIQUE))


def _took(work: Callable[[], object]) -> float:
    """Milliseconds of this process."""
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1000


def _whole_process(folder: Path, packages: Iterable[str]) -> float:
    """Seconds, from start to end."""
    manifests = folder / "manifests"
    manifests.mkdir()
    for name in packages:
        spec = {"name": name, "source": KEY.name, "sourceNamespace": KEY.namespace}
        (manifests / f"{name}.json").write_text(
            json.dumps({"kind": "Subscription", "metadata": {"name": name}, "spec": spec})
        )
    words = ["resolve", "-n", "ns", "--catalog", f"{KEY.namespace}/{KEY.name}={COMMUNITY}", "--from", str(manifests)]
    command = [sys.executable, "-m", "eventing.cli.main", *words]
    environment = {**os.environ, "OLMF_CONTENT": str(folder / "content")}

    def run() -> None:
        subprocess.run(command, env=environment, check=True, capture_output=True)

    run()  # why: the catalog is indexed
    return best(run, clock=of_children)


if __name__ == "__main__":
    for row in rows():
        print(row, flush=True)
