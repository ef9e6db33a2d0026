"""The state directory: addresses, ports that stay, and one supervisor at a time."""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from eventing.local.health import is_healthy, report
from eventing.local.state import Addresses, AlreadyRunningError, ForeignFileError, Process, StateDirectory, is_alive
from tests.kit.waiting import PATIENCE_SECONDS


@pytest.fixture
def directory(tmp_path: Path) -> StateDirectory:
    made = StateDirectory(tmp_path / "state")
    made.make()
    return made


def a_dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_only_the_owner_may_look_into_it(directory: StateDirectory) -> None:
    assert {path.stat().st_mode & 0o777 for path in (directory.root, directory.logs)} == {0o700}


def test_addresses_are_read_as_they_were_written(directory: StateDirectory) -> None:
    addresses = Addresses(str(directory.root), os.getpid(), redis="unix:///r", processes=(Process("redis", 1),))
    directory.write(addresses)
    with directory.claimed():
        assert (directory.read(), directory.left_behind()) == (addresses, None)


def test_where_nothing_ever_ran_there_are_no_addresses(directory: StateDirectory) -> None:
    assert (directory.read(), directory.left_behind()) == (None, None)


@pytest.mark.parametrize("is_taken", [False, True], ids=["nobody has its pid", "another program has its pid"])
def test_who_was_killed_leaves_its_addresses(directory: StateDirectory, is_taken: bool) -> None:
    killed = Addresses(str(directory.root), os.getpid() if is_taken else a_dead_pid())
    directory.write(killed)
    assert (directory.read(), directory.left_behind()) == (None, killed)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param('{"state": "/s", "pid": 1}', id="of another version"),
        pytest.param('{"state": "/s", "supervisor": "1"}', id="with another type"),
        pytest.param('{"state": ', id="damaged"),
    ],
)
def test_what_it_cannot_read_it_names(directory: StateDirectory, content: str) -> None:
    directory.addresses_file.write_text(content)
    with pytest.raises(ForeignFileError, match=r"olmf\.json is damaged, or of another version .* remove the file"):
        directory.read()


def test_what_a_later_version_adds_is_left_out(directory: StateDirectory) -> None:
    directory.addresses_file.write_text('{"state": "/s", "supervisor": 1, "more": true}')
    assert directory.left_behind() == Addresses("/s", 1)


def test_commands_name_a_directory_that_is_not_the_default(directory: StateDirectory) -> None:
    assert str(StateDirectory.default().command("down")) == "olmf down"
    assert str(directory.command("up", "--detach")) == f"olmf up --detach --state {directory.root}"


def test_a_port_stays_until_somebody_else_takes_it(directory: StateDirectory) -> None:
    port = directory.port_of("endpoint")
    assert directory.port_of("endpoint") == port
    with socket.create_server(("127.0.0.1", port)):
        assert directory.port_of("endpoint") != port


def test_one_supervisor_at_a_time(directory: StateDirectory) -> None:
    with directory.claimed(), pytest.raises(AlreadyRunningError, match="olmf down"), directory.claimed():
        pytest.fail("two supervisors in one directory")
    with directory.claimed():
        pass


def test_who_only_looks_hinders_nobody(directory: StateDirectory) -> None:
    with directory.claimed():
        assert directory.is_claimed()

    def claim() -> bool:
        with directory.claimed():
            return directory.is_claimed()

    with ThreadPoolExecutor(1) as pool:
        with (directory.root / "lock").open() as looked_at:
            fcntl.flock(looked_at, fcntl.LOCK_SH)
            claimed = pool.submit(claim)
            with pytest.raises(TimeoutError):
                claimed.result(timeout=0.1)
            assert not directory.is_claimed()
        assert claimed.result(PATIENCE_SECONDS)


def test_a_zombie_is_not_alive() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout as output:
        output.read()  # ends when the process does, which nobody waited for
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not is_alive(process.pid)
    process.wait()


@pytest.mark.parametrize("pid", [0, -1])
def test_a_program_that_was_never_started_is_not_alive(pid: int) -> None:
    assert not is_alive(pid)


def test_health() -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    assert is_healthy(Process("alive", os.getpid()))
    assert not is_healthy(Process("dead", a_dead_pid()))
    assert not is_healthy(Process("silent", os.getpid(), probe=f"http://127.0.0.1:{port}/livez"))


def test_the_report_names_each_process() -> None:
    answer = report(Addresses("/s", 1, endpoint="http://e", processes=(Process("worker", os.getpid()),), ready=True))
    assert answer["processes"] == [{"name": "worker", "pid": os.getpid(), "healthy": True}]
    assert {"state", "kubeconfig", "endpoint", "redis", "registry"} < answer.keys()
