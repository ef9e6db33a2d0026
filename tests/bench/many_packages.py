"""A catalog of 5,000 packages, fifteen times as many as the community's: indexing, resolving, serving it.

`python -m tests.bench many_packages`. The packages are made up, as large as real ones: two channels, texts of 6 KB.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any, Final

import orjson
import urllib3

from eventing.diagnosis.catalogs import reader_of_snapshot
from shared.adapters.content.anywhere import snapshot_at
from shared.adapters.content.snapshot import Snapshot
from shared.adapters.content.store import Store
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import Catalog, Inputs, Subscriber
from shared.domain.resolver.resolve import resolve
from tests.bench.packages import LIST, publish, resident_megabytes, serving, used_seconds
from tests.bench.row import Row
from tests.bench.timing import best
from tests.conformance.http import Api
from tests.kit.sandbox import running_sandbox
from tests.kit.webhook_server import make_authority

PACKAGES: Final = 5_000
LISTS: Final = 8
"""As many as one user may have under way."""
CHANNELS: Final = ("stable", "candidate")
_KEY: Final = CatalogKey("olm", "many")
_WORDS: Final = [f"word{number}" for number in range(500)]
_TEXT_WORDS: Final = 850


def rows() -> Iterable[Row]:
    """Every row of this page."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "many").mkdir()
        size = write(folder / "many" / "catalog.json")
        started = time.process_time()
        snapshot = snapshot_at(str(folder / "many"), Store(folder / "indexed"))
        yield Row(f"indexing {PACKAGES} packages, {size / 1e6:.0f} MB", time.process_time() - started, 10, "s")
        yield Row("one Subscription to one of them", 1000 * best(lambda: _resolved(snapshot)), 5, "ms")
        yield from _served(folder)


def _resolved(snapshot: Snapshot) -> None:
    subscriber = Subscriber("a", "package-2500", "stable", _KEY)
    catalogs, readers = {_KEY: Catalog(_KEY, reference="x")}, {_KEY: reader_of_snapshot(snapshot)}
    [component] = resolve(Inputs("ns", (subscriber,), catalogs=catalogs, readers=readers)).components
    assert component.chosen


def _served(folder: Path) -> Iterable[Row]:
    with running_sandbox(folder / "sandbox") as kubeconfig:
        api = Api.of(kubeconfig)
        publish(api, kubeconfig, folder / "many")
        make_authority(folder / "pki", "IP:127.0.0.1")
        with serving(folder, kubeconfig):
            pass  # the catalog is indexed
        with serving(folder, kubeconfig) as (pid, address):
            yield Row("their PackageManifests: until ready (processor time)", used_seconds(pid), 10, "s")
            pool = urllib3.PoolManager(ca_certs=str(folder / "pki" / "ca.crt"))
            headers = {"Authorization": f"Bearer {api.token}"}

            def ask(path: str = LIST) -> bytes:
                return pool.request("GET", address + path, headers=headers).data

            assert len(orjson.loads(ask())["items"]) == PACKAGES
            yield Row("a list of them for one namespace", best(ask, clock=time.perf_counter), 2, "s")
            one = best(lambda: ask(f"{LIST}/package-2500"), clock=time.perf_counter)
            yield Row("one of them", 1000 * one, 50, "ms")
            yield Row("memory of their server", resident_megabytes(pid), 256, "MB")
            unread = [pool.request("GET", address + LIST, headers=headers, preload_content=False) for _ in range(LISTS)]
            yield Row(f"the same, while {LISTS} clients do not read their lists", resident_megabytes(pid), 320, "MB")
            for answer in unread:
                answer.close()


def write(path: Path) -> int:
    """The catalog as a file; returns its size in bytes."""
    dice = Random(5)
    with path.open("wb") as out:
        for number in range(PACKAGES):
            for document in _documents(f"package-{number}", dice):
                out.write(orjson.dumps(document) + b"\n")
    return path.stat().st_size


def _documents(package: str, dice: Random) -> Iterable[dict[str, Any]]:
    yield {"schema": "olm.package", "name": package, "defaultChannel": CHANNELS[0]}
    for major, channel in enumerate(CHANNELS, start=1):
        version = f"{package}.v{major}.0.0"
        yield {"schema": "olm.channel", "package": package, "name": channel, "entries": [{"name": version}]}
        identity = {"packageName": package, "version": f"{major}.0.0"}
        text = " ".join(dice.choices(_WORDS, k=_TEXT_WORDS))
        described = {"displayName": package, "description": text, "provider": {"name": "many"}}
        properties = [{"type": "olm.package", "value": identity}, {"type": "olm.csv.metadata", "value": described}]
        image = f"registry.example/{package}:{major}"
        yield {
            "schema": "olm.bundle", "package": package, "name": version, "image": image, "properties": properties
        }  # fmt: skip
