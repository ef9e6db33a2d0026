"""A real server, started as the manifest starts it, stays within its memory and comes back from its own file."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import OutOfMemoryError, RedisError

from eventing.deploy.redis import FLAGS, LIMIT_MIB, START, redis
from eventing.local.redis_server import find_binary
from tests.kit.waiting import PATIENCE_SECONDS, wait_for

PASSWORD = 'it\'s "quoted" \\ $HOME #1\né'
SMALL = ("--maxmemory", "8mb")
(CONTAINER,) = next(each for each in redis() if each["kind"] == "Deployment")["spec"]["template"]["spec"]["containers"]


class Server:
    """The container, as a process in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        programs = folder / "bin"
        programs.mkdir()
        (programs / "redis-server").symlink_to(find_binary())
        self.environ = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PASSWORD": PASSWORD}
        self.data = folder / "data"
        self.data.mkdir()

    def start(self) -> subprocess.Popen[bytes]:
        """Start it; it listens on a socket instead of its port."""
        place = ("--port", "0", "--unixsocket", str(self.folder / "s"))
        return subprocess.Popen(
            ["sh", "-c", START, "redis", *FLAGS, *SMALL, *place],
            cwd=self.data, env=self.environ, stdout=subprocess.DEVNULL,
        )  # fmt: skip

    @contextlib.contextmanager
    def running(self) -> Iterator[Redis]:
        """It runs and is ready until the end of the block, then it is killed."""
        process = self.start()
        try:
            with Redis(unix_socket_path=str(self.folder / "s"), password=PASSWORD) as client:
                wait_for(lambda: answers(client))
                (self.data / "starting").unlink()  # as the startup probe does
                yield client
        finally:
            process.kill()
            process.wait()


def answers(client: Redis) -> bool:
    try:
        return bool(client.ping())
    except RedisError:
        return False


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path)


def fill(client: Redis) -> int:
    """Store until the server refuses; returns how many it took."""
    for number in range(10_000):
        try:
            client.set(f"key:{number}", os.urandom(4096))
        except OutOfMemoryError:
            return number
    raise AssertionError("it never refused")


def test_a_full_server_that_is_killed_comes_back_with_what_it_had(server: Server) -> None:
    with server.running() as client:
        stored = fill(client)
        assert stored > 100
    with server.running() as client:
        assert client.dbsize() == stored
        assert client.delete("key:1") == 1, "a full server can be emptied"


def test_a_file_that_cannot_be_loaded_ends_one_start_only(server: Server) -> None:
    with server.running() as client:
        client.set("key", "value")
    for part in (server.data / "appendonlydir").glob("*.aof"):
        part.write_bytes(b"no commands")
    assert server.start().wait(20) != 0
    with server.running() as client:
        assert client.dbsize() == 0


def test_its_password_is_not_in_its_command_line(server: Server) -> None:
    with server.running() as client:
        command = Path(f"/proc/{client.info('server')['process_id']}/cmdline").read_bytes()
        assert b"redis-server" in command
        assert b"quoted" not in command
        assert b"requirepass" not in command
        assert client.config_get("requirepass") == {"requirepass": PASSWORD}


def test_without_a_password_it_does_not_start(server: Server) -> None:
    server.environ["PASSWORD"] = ""
    assert server.start().wait(PATIENCE_SECONDS) != 0


def test_no_snapshot_can_stop_writes(server: Server) -> None:
    with server.running() as client:
        assert client.config_get("save") == {"save": ""}


def test_the_probe_of_the_start_lets_the_next_start_keep_the_file(server: Server) -> None:
    (server.data / "starting").touch()
    programs = server.folder / "bin"
    (programs / "redis-cli").write_text("#!/bin/sh\necho PONG\n")
    (programs / "redis-cli").chmod(0o755)
    subprocess.run(CONTAINER["startupProbe"]["exec"]["command"], cwd=server.data, env=server.environ, check=True)
    assert not (server.data / "starting").exists()


def test_it_refuses_before_the_kernel_ends_it() -> None:
    flags: dict[str, Any] = dict(zip(FLAGS[::2], FLAGS[1::2], strict=True))
    assert CONTAINER["resources"]["limits"]["memory"] == f"{LIMIT_MIB}Mi"
    assert 0.5 * LIMIT_MIB < int(flags["--maxmemory"].removesuffix("mb")) < 0.6 * LIMIT_MIB
    assert flags["--maxmemory-policy"] == "noeviction"
