"""The demo plays to its end by itself, and Ctrl-C at any moment leaves nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.eventing.local.test_up import until_nothing_runs
from tests.kit.verbs import Started
from tests.kit.waiting import PATIENCE_SECONDS, wait_for


@contextmanager
def a_demo(folder: Path, log: Path) -> Iterator[Started]:
    environ = {**os.environ, "TMPDIR": str(folder)}
    with Path(os.devnull).open() as nothing, log.open("w") as output:
        demo = Started(["demo"], (nothing.fileno(), output.fileno(), output.fileno()), environ)
    with demo:
        yield demo


def test_it_plays_to_its_end(tmp_path: Path) -> None:
    folder, log = tmp_path / "folder", tmp_path / "log"
    folder.mkdir()
    with a_demo(folder, log) as demo:
        code = demo.wait(4 * PATIENCE_SECONDS)
    printed = log.read_text()
    assert code == 0, printed
    for words in (
        "tide.v0.2.0",
        "tide.v1.0.0",
        "RequiresApproval",
        "approved install-",
        "beacon.v1.0.0",
        "ledger.v2.1.0",
        "lamps.v1.1.0",
        'webhook "vlamps.samples.olmf.io" denied the request: 5000 lumens blind',
    ):
        assert words in printed
    assert "└─ ● " in printed, "the tree of causes"
    assert "kubectl get catsrc,sub,installplans,csv,og" in printed
    until_nothing_runs(folder)
    assert list(folder.iterdir()) == []


MOMENTS = {
    "the folder was made": lambda folder, _: any(folder.iterdir()),
    "its supervisor started": lambda folder, _: any(folder.glob("*/state/logs/supervisor.log")),
    "its programs started": lambda folder, _: any(folder.glob("*/state/olmf.json")),
    "it began to install": lambda _, log: "2. " in log.read_text(),
    "a plan waits": lambda _, log: "RequiresApproval" in log.read_text(),
}


@pytest.mark.parametrize(
    ("has_come", "number"),
    [
        *(pytest.param(has_come, signal.SIGINT, id=moment) for moment, has_come in MOMENTS.items()),
        pytest.param(MOMENTS["it began to install"], signal.SIGHUP, id="its terminal is closed"),
    ],
)
def test_an_interrupt_leaves_nothing(
    tmp_path: Path, has_come: Callable[[Path, Path], bool], number: signal.Signals
) -> None:
    folder, log = tmp_path / "folder", tmp_path / "log"
    folder.mkdir()
    with a_demo(folder, log) as demo:
        wait_for(lambda: has_come(folder, log), "the moment")
        demo.send(number)
        assert demo.wait() == 128 + number, log.read_text()
    assert "Traceback" not in log.read_text()
    until_nothing_runs(folder)
    assert list(folder.iterdir()) == []
