"""Whoever is killed while it indexes leaves nothing that anybody could take for an index."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from shared.adapters.content.anywhere import snapshot_at
from shared.adapters.content.snapshot import Snapshot
from shared.adapters.content.store import Store
from shared.adapters.image_writer import write_image
from shared.domain.bundle.annotations import CONFIGS
from tests.kit.catalogs import one, written

_INDEXER = """
import sys
from pathlib import Path
from shared.adapters.content.store import Store
from shared.adapters.content.anywhere import snapshot_at
print("ready", flush=True)
snapshot_at(sys.argv[1], Store(Path(sys.argv[2])))
print("done", flush=True)
"""


@pytest.mark.crash
def test_a_store_never_serves_what_a_killed_process_left(tmp_path: Path) -> None:
    files = {}
    for number in range(60):
        name = f"p{number}"
        documents = [{**document, "padding": "x" * 20_000} for document in one(name, "1.0.0")]
        files[f"configs/{name}.json"] = written(tmp_path / "catalog", *documents, name=name) / name
    target = f"oci:{tmp_path}/layout:1"
    write_image(files, {CONFIGS: "/configs"}, target)
    finished = 0
    for milliseconds in range(0, 120, 24):
        store = tmp_path / f"store{milliseconds}"
        command = [sys.executable, "-c", _INDEXER, target, str(store)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as indexer:
            assert indexer.stdout is not None
            assert indexer.stdout.readline() == "ready\n"
            try:
                indexer.wait(milliseconds / 1000)
            except subprocess.TimeoutExpired:
                indexer.send_signal(signal.SIGKILL)
            finished += "done" in indexer.stdout.read()
        for name in Store(store).names("catalog"):
            Snapshot.open(store / name, lambda other, store=store: store / other).verify()  # type: ignore[misc]  # why: a default
        assert len(snapshot_at(target, Store(store)).names) == 60
    assert finished < 5, "nobody was killed in the middle: the test shows nothing"
