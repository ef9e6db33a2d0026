"""The embedded Redis: found, started, tied to us."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from eventing.local import redis_server
from eventing.local.redis_server import MAX_SOCKET_PATH, PARENT_WATCH, RedisServerError
from eventing.local.state import is_alive
from eventing.workqueue import connect
from tests.kit.redis import put_on_disk
from tests.kit.waiting import PATIENCE_SECONDS, wait_for


def wait_until_gone(pid: int) -> None:
    wait_for(lambda: not is_alive(pid), f"the end of process {pid}")


def test_a_server_listens_on_a_socket_in_its_state_directory(tmp_path: Path) -> None:
    state = tmp_path / "r"
    server = redis_server.start(state)

    assert server.url == f"unix://{state}/redis.sock"
    with connect(server.url) as client:
        assert client.ping()
    server.stop()
    wait_until_gone(server.pid)


def test_a_state_directory_with_a_long_path_gets_a_loopback_port_and_keeps_it(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * (MAX_SOCKET_PATH // 4))
    urls = []
    for _ in range(2):
        server = redis_server.start(folder)
        urls.append(server.url)
        with connect(server.url) as client:
            assert client.ping()
        server.stop()

    assert urls[0].startswith("redis://127.0.0.1:")
    assert urls[0] == urls[1]


def test_a_port_that_somebody_else_took_meanwhile_is_given_up(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * (MAX_SOCKET_PATH // 4))
    folder.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as other:
        (folder / "redis.port").write_text(str(other.getsockname()[1]))
        server = redis_server.start(folder)
        assert server.url != f"redis://127.0.0.1:{other.getsockname()[1]}/0"
        server.stop()


def test_what_was_stored_is_there_after_a_kill(tmp_path: Path) -> None:
    server = redis_server.start(tmp_path)
    with connect(server.url) as client:
        client.set("key", "value")
        put_on_disk(client)
    os.kill(server.pid, signal.SIGKILL)
    wait_until_gone(server.pid)
    server.stop()

    server = redis_server.start(tmp_path)
    with connect(server.url) as client:
        assert client.get("key") == b"value"
    server.stop()


def test_a_server_without_state_leaves_nothing_behind() -> None:
    server = redis_server.start()
    folder = Path(server.url.removeprefix("unix://")).parent
    assert folder.is_dir()

    server.stop()
    server.stop()

    assert not folder.exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_server_ends_with_the_process_that_started_it(number: int, tmp_path: Path) -> None:
    program = (
        "import sys; from eventing.local import redis_server as r; s = r.start(); print(s.pid, flush=True); "
        "sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as owner:
        assert owner.stdout
        pid = int(owner.stdout.readline())
        assert is_alive(pid)
        owner.send_signal(number)

    wait_until_gone(pid)


def test_a_server_whose_starter_was_killed_before_it_knew_of_it_ends(tmp_path: Path) -> None:
    number, (heard, output) = tmp_path / "pid", os.pipe()
    os.close(heard)
    server = ("/bin/sh", "-c", f"echo $$ >{number}; exec sleep 60")
    with subprocess.Popen(
        ["/bin/sh", "-c", PARENT_WATCH, "sh", *server], stdin=subprocess.PIPE, stdout=output
    ) as shell:
        os.close(output)
        assert shell.wait(PATIENCE_SECONDS) == -signal.SIGPIPE
        wait_for(lambda: number.exists() and number.read_text(), "the server")
        pid = int(number.read_text())
        assert is_alive(pid)
    wait_until_gone(pid)


def test_two_servers_do_not_share_a_state_directory(tmp_path: Path) -> None:
    server = redis_server.start(tmp_path)
    try:
        with pytest.raises(RedisServerError, match="in use"):
            redis_server.start(tmp_path)
        with connect(server.url) as client:
            assert client.ping()
    finally:
        server.stop()


def test_a_server_that_cannot_start_reports_what_it_logged(tmp_path: Path) -> None:
    (tmp_path / "appendonlydir").write_text("not a directory")

    with pytest.raises(RedisServerError, match="did not come up"):
        redis_server.start(tmp_path)


def test_the_server_of_the_path_is_taken_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = tmp_path / "valkey-server"
    ours.write_text("#!/bin/sh\n")
    ours.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert redis_server.find_binary() == ours


def test_without_one_on_the_path_the_wheel_has_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert redis_server.find_binary().name == "valkey-server"
