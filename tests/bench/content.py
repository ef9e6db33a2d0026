"""What reading content costs: YAML, an indexed catalog, the start of `olmf unpack`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson
import yaml

from shared.adapters.content.catalogs import ImageCatalogs
from shared.adapters.content.pulling import Puller
from shared.adapters.content.store import Store
from shared.domain.bundle.annotations import CONFIGS
from shared.domain.go import yaml as goyaml
from shared.domain.image_source import ImageSource
from shared.ports import Pulled
from tests.bench.row import Row
from tests.bench.timing import best, of_children
from tests.kit.image_registry import a_file, a_layer, scripted_registry

PACKAGES = 300
BUNDLES = 20


def rows() -> Iterable[Row]:
    """Every row of this page."""
    yield _yaml()
    yield from _catalog()
    yield Row(
        "start of `olmf unpack`, beyond that of Python", _start("eventing.content.unpack") - _start("sys"), 0.3, "s"
    )


def _start(module: str) -> float:
    return best(lambda: subprocess.run([sys.executable, "-c", f"import {module}"], check=True), clock=of_children)


def _yaml() -> Row:
    schema: dict[str, Any] = {"type": "object", "description": "A text of some length: with a colon, and 'quotes'."}
    for _ in range(6):
        schema = {"type": "object", "required": ["a"], "properties": dict.fromkeys(("a", "b", "c", "d"), schema)}
        schema["properties"]["e"] = {"type": "integer", "minimum": 0, "x-on": "yes"}
    Dumper = yaml.CSafeDumper  # noqa: N806  # why: a class
    Dumper.ignore_aliases = lambda *_: True  # type: ignore[method-assign]
    text = yaml.dump({"spec": {"versions": [{"schema": schema["properties"]["a"]}]}}, Dumper=Dumper)
    ours = best(lambda: goyaml.load(text))
    theirs = best(lambda: yaml.load(text, Loader=yaml.CSafeLoader))
    return Row("YAML as Go reads it, against PyYAML's C loader", ours / theirs, 0.75, "times")


def _catalog() -> Iterable[Row]:
    files = [(f"configs/p{number}.json", _package(f"p{number}")) for number in range(PACKAGES)]
    with scripted_registry() as registry, tempfile.TemporaryDirectory() as folder:
        layer = a_layer(*(a_file(path, content) for path, content in files), compressed=False)
        registry.put("cat", "latest", [layer], {CONFIGS: "/configs"})
        source = ImageSource(f"{registry.address}/cat:latest", "olm")
        puller = Puller(lambda *_: None)
        started = time.process_time()
        pulled = ImageCatalogs(Store(Path(folder)), puller).pull(source)
        yield Row(f"indexing {PACKAGES} packages, {len(layer) / 1e6:.0f} MB", time.process_time() - started, 5, "s")
        assert isinstance(pulled, Pulled)
        registry.requests.clear()
        ImageCatalogs(Store(Path(folder)), puller).pull(source)
        yield Row("requests for a catalog that did not change", len(registry.requests), 1)

        def one() -> object:
            return ImageCatalogs(Store(Path(folder)), puller).package(pulled.reference, "p7", source)

        yield Row("opening an indexed catalog and reading one package", 1000 * best(one), 5, "ms")


def _package(name: str) -> bytes:
    entries = [{"name": f"{name}.v{minor}"} for minor in range(BUNDLES)]
    documents: list[dict[str, Any]] = [
        {"schema": "olm.package", "name": name, "defaultChannel": "a"},
        {"schema": "olm.channel", "package": name, "name": "a", "entries": entries},
    ]
    for minor in range(BUNDLES):
        identity = {"type": "olm.package", "value": {"packageName": name, "version": f"1.{minor}.0"}}
        heavy = {"type": "olm.csv.metadata", "value": {"description": "x" * 5000}}
        bundle = {"schema": "olm.bundle", "package": name, "name": f"{name}.v{minor}", "image": f"quay.io/{name}"}
        documents.append({**bundle, "properties": [identity, heavy]})
    return b"\n".join(map(orjson.dumps, documents))


if __name__ == "__main__":
    sys.stdout.write("\n".join(map(str, rows())) + "\n")
