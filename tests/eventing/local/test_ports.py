"""Ports of loopback: nobody who starts meanwhile gets the same."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain, repeat
from pathlib import Path

import pytest

from eventing.local.ports import PORTS, free_port
from eventing.local.state import StateDirectory


@pytest.fixture
def unlucky(monkeypatch: pytest.MonkeyPatch) -> int:
    """Chance offers this port, which was free, three times before any other."""
    port, choice = free_port(), random.choice
    offers: Iterator[int] = chain(repeat(port, 3), iter(lambda: choice(PORTS), None))
    monkeypatch.setattr(random, "choice", lambda _: next(offers))
    return port


def test_two_programs_that_do_not_listen_yet_have_two_ports(unlucky: int) -> None:
    assert len({unlucky, free_port(), free_port(unlucky)}) == 3


CHOOSES = "from eventing.local.ports import free_port; import sys; print(free_port(int(sys.argv[1])))"


def test_another_installation_chooses_another(unlucky: int) -> None:
    done = subprocess.run([sys.executable, "-c", CHOOSES, str(unlucky)], capture_output=True, text=True, check=True)
    assert int(done.stdout) in set(PORTS) - {unlucky}


def test_two_programs_whose_stored_ports_are_the_same_get_two(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path)
    state.make()
    port = state.port_of("catalogs")
    (state.root / "run" / "registry.port").write_text(str(port))
    assert state.port_of("registry") != port == state.port_of("catalogs")
