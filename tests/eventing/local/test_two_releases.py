"""During a rolling update workers of two releases share a queue: each does a part, and nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from eventing.diagnosis.replay import replay
from eventing.diagnosis.replay.other_code import NoSuchCode, tree_of
from eventing.local.state import StateDirectory
from eventing.workqueue import connect, listed
from tests.kit.installation import SAMPLES, Installation, installed
from tests.kit.waiting import wait_for

OLDER = "d85aa58f"
"""A revision before `olmf:format`."""
DONE = '"event": "step_done"'


_MAIN = "import sys, eventing; print(eventing.__path__[0], file=sys.stderr); from eventing.cli.main import main; main()"


@pytest.fixture
def older() -> Iterator[Path]:
    """The code of that revision."""
    try:
        with tree_of(OLDER) as tree:
            yield tree
    except NoSuchCode as error:
        pytest.skip(f"needs the history of git: {error}")


@contextmanager
def a_worker(tree: Path, others: Installation, log: Path) -> Iterator[None]:
    """A worker of another release, with the settings that `olmf up` gives its own; it ends as a Pod does."""
    state = StateDirectory(others.state)
    addresses = state.read()
    assert addresses
    environ = {
        **os.environ, "PYTHONPATH": str(tree), "OLMF_REDIS_URL": addresses.redis,
        "OLMF_KUBECONFIG": addresses.kubeconfig, "OLMF_CONTENT": str(state.root / "content"),
        "OLMF_GLOBAL_NAMESPACE": "olm", "OLMF_ALLOWED_REGISTRY_ADDRESSES": "127.0.0.0/8,::1",
        "OLMF_CATALOGS_URL": f"http://127.0.0.1:{(state.root / 'run' / 'catalogs.port').read_text().strip()}",
        "OLMF_CATALOGS_ADDRESS": f"localhost:{(state.root / 'run' / 'registry.port').read_text().strip()}",
    }  # fmt: skip
    command = [sys.executable, "-c", _MAIN, "run", "worker"]
    with log.open("wb") as file, subprocess.Popen(command, cwd=tree, env=environ, stderr=file) as process:
        try:
            wait_for(lambda: '"event": "worker_ready"' in log.read_text(), "the worker of the older release")
            yield
        finally:
            process.terminate()
        assert process.wait() == 0


def test_an_older_and_a_newer_worker_share_the_work(older: Path, tmp_path: Path) -> None:
    log = tmp_path / "older.log"
    with installed(tmp_path / "state", "--bundles", str(SAMPLES)) as found:
        with a_worker(older, found, log):
            found.olmf("install", "tide", "-n", "one")
            found.olmf("install", "beacon", "-n", "two")
            assert log.read_text().startswith(str(older))
        older_runs = {json.loads(line)["run"] for line in log.read_text().splitlines() if DONE in line}
        found.olmf("install", "ledger", "-n", "three")  # what the older one left is taken up
        found.until_it_rests()
        assert older_runs
        assert (found.state / "logs" / "worker.log").read_text().count("step_done") > 0
        addresses = StateDirectory(found.state).read()
        assert addresses
        with connect(addresses.redis) as client:
            assert [job for job in listed(client) if job.state == "dead" or job.error] == []
        found.olmf("capture", "-o", str(file := tmp_path / "both.tar.gz"))
    report = replay(file)
    ours = [each for each in report.replayed if each.run.id not in older_runs]
    assert [each.detail for each in ours if each.result == "different"] == []
    assert any(each.result == "same" for each in ours)
    assert report.count("same") > len(older_runs)
