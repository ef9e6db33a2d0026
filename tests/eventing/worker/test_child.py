"""What the exit code of a child says of the runs that it had under way, and that it ends with its parent."""

from __future__ import annotations

import os
import signal
import socket

import pytest

from eventing.worker.child import die_with, loss_of
from eventing.workqueue import Loss
from shared.config import Settings

ONE, TWO = frozenset({7}), frozenset({7, 8})
NOBODY = frozenset[int]()
TOO_MUCH = "ended: it needed more than 256 MiB"


@pytest.mark.parametrize(
    ("code", "present", "want"),
    [
        pytest.param(71, ONE, Loss(TOO_MUCH, "limit", ONE, ONE), id="no more memory: the only run is the reason"),
        pytest.param(71, TWO, Loss(TOO_MUCH, "limit", NOBODY, TWO), id="no more memory: one of two is the reason"),
        pytest.param(
            -signal.SIGABRT, TWO,
            Loss("ended: it probably needed more than 256 MiB (SIGABRT)", "limit", NOBODY, TWO), id="a library gave up",
        ),
        pytest.param(
            -signal.SIGSEGV, ONE, Loss("its worker died of SIGSEGV", "timeout", ONE, ONE), id="the only run crashed it"
        ),
        pytest.param(1, TWO, Loss("its worker exited (1)", "timeout", NOBODY, TWO), id="a bug of the worker"),
        pytest.param(
            72, TWO, Loss("its worker lost Redis", "retry", None, NOBODY), id="Redis was lost: no run is the reason"
        ),
    ],
)  # fmt: skip
def test_the_runs_of_a_child_that_ended(code: int, present: frozenset[int], want: Loss) -> None:
    assert loss_of(code, Settings(run_memory_bytes=256 * 1024**2), present) == want


@pytest.mark.parametrize("said", [pytest.param(b"", id="before it is ready"), pytest.param(b"r", id="unheard")])
def test_a_child_ends_with_its_parent(said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = list[int]()
    monkeypatch.setattr(os, "_exit", ended.append)
    parent, child = socket.socketpair()
    child.send(said)
    parent.close()
    with child:
        die_with(child)
    assert ended == [1]
