"""What counts as a process that was started again."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.conformance.attacks.processes import pids, restarted
from tests.kit.installation import installed
from tests.kit.waiting import wait_for


@pytest.mark.parametrize(
    ("before", "after", "count"),
    [
        pytest.param({"worker": [1, 2]}, {"worker": [1, 2]}, 0, id="the same"),
        pytest.param({"worker": [1, 2]}, {"worker": [1, 3]}, 1, id="the child of a worker"),
        pytest.param({"worker": [1, 2]}, {}, 1, id="one is gone"),
        pytest.param({}, {"worker": [1, 2]}, 1, id="one is new"),
        pytest.param({"olmf-watch-1": [0]}, {"olmf-watch-1": [1]}, 1, id="a pod with one restart more"),
    ],
)
def test_restarts(before: dict[str, list[int]], after: dict[str, list[int]], count: int) -> None:
    assert len(restarted(before, after)) == count


def test_a_worker_whose_child_dies_is_seen(tmp_path: Path) -> None:
    with installed(tmp_path) as host:
        before = pids(host)
        assert len([name for name in before if "worker" in name]) > 1
        os.kill(before["worker"][1], signal.SIGKILL)
        wait_for(lambda: restarted(before, pids(host)) == [f"worker: {before['worker']} {pids(host)['worker']}"])
