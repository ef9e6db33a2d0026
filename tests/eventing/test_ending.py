"""A signal that ends a program is not missed, however early it comes; other signals end nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
from subprocess import PIPE

import pytest

from tests.kit.waiting import PATIENCE_SECONDS

WAITS = """
import signal, sys
from eventing.ending import noted_end
wait = noted_end()
signal.signal(signal.SIGUSR1, lambda *_: None)
print("noted", flush=True)
sys.stdin.readline()
wait()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_comes_before_somebody_waits_is_not_missed(number: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", WAITS], stdin=PIPE, stdout=PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"noted\n"
        process.send_signal(number)
        process.communicate(b"now\n", timeout=PATIENCE_SECONDS)
    assert process.returncode == 0


def test_another_signal_ends_nothing() -> None:
    with subprocess.Popen([sys.executable, "-c", WAITS], stdin=PIPE, stdout=PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"noted\n"
        process.send_signal(signal.SIGUSR1)
        with pytest.raises(subprocess.TimeoutExpired):
            process.communicate(b"now\n", timeout=0.3)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_SECONDS) == 0
