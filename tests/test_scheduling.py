"""The files that begin first are there, and do begin first."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

from tests.kit.scheduling import LONGEST, ONE_PROCESS, ByFile

ROOT = Path(__file__).parents[1]


class Worker:
    """A process that runs what it is sent."""

    def __init__(self) -> None:
        self.sent: list[int] = []

    def send_runtest_some(self, numbers: list[int]) -> None:
        self.sent += numbers


def scheduler(worker: Worker, ids: list[str]) -> Any:
    made = ByFile.__new__(ByFile)
    made.workqueue = OrderedDict()
    for each in ids:
        made.workqueue.setdefault(made._split_scope(each), {})[each] = False
    made.assigned_work, made.registered_collections = {}, {worker: ids}
    return made


@pytest.mark.parametrize("path", LONGEST)
def test_a_file_that_begins_first_is_there(path: str) -> None:
    assert (ROOT / path).is_file()


def test_the_longest_begin_first_and_others_as_they_come() -> None:
    ids = ["tests/a.py::one", f"{LONGEST[1]}::one", "tests/a.py::two", f"{LONGEST[0]}::one", f"{LONGEST[0]}::two"]
    made = scheduler(worker := Worker(), ids)
    while made.workqueue:
        made._assign_work_unit(worker)
    assert worker.sent == [3, 4, 1, 0, 2]


def test_what_looks_at_the_source_tree_runs_in_one_process() -> None:
    made = scheduler(Worker(), [f"{ONE_PROCESS}test_a.py::one", f"{ONE_PROCESS}test_b.py::two"])
    assert list(made.workqueue) == [ONE_PROCESS]
