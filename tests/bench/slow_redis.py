"""A Redis whose answers come later, and a count of its round trips.

`python -m tests.bench.slow_redis REAL SOCKET MS FILE PID` is the proxy, for as long as that process is there. The
variables of `slow_redis` put a `redis-server` on the path that starts the real one on another socket, and the proxy on
the one that was asked for. What Redis sends is held back for so long, in order; what clients send goes through at once.
A round trip is what a client sends after an answer, and is counted by its first command, a script by its name.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from eventing.local import redis_server
from eventing.workqueue.scripts import script

CHUNK = 256 * 1024
START_SECONDS = 60
_SCRIPT = """#!/bin/sh
for word in "$@"; do
  case "$before" in --unixsocket) socket=$word;; esac
  before=$word
done
cd {root} && {python} -m tests.bench.slow_redis "$socket.real" "$socket" {milliseconds} {file} $$ &
exec {server} "$@" --unixsocket "$socket.real"
"""


@dataclass(frozen=True)
class SlowRedis:
    """What starts it, and what it counts."""

    environ: dict[str, str]
    file: Path

    def trips(self) -> Counter[str]:
        """The round trips so far, by what they were for."""
        return Counter(json.loads(self.file.read_text())) if self.file.exists() else Counter()


@contextmanager
def slow_redis(folder: Path, milliseconds: float) -> Iterator[SlowRedis]:
    """Variables for `olmf up`, whose Redis then answers so much later; it ends with its Redis."""
    place = folder / "path"
    place.mkdir()
    program, file = place / "redis-server", folder / "trips.json"
    words = {"root": Path(__file__).parents[2], "python": sys.executable, "server": redis_server.find_binary()}
    program.write_text(_SCRIPT.format(milliseconds=milliseconds, file=file, **words))
    program.chmod(0o755)
    yield SlowRedis({"PATH": f"{place}{os.pathsep}{os.environ['PATH']}"}, file)


async def serve(real: str, socket: str, seconds: float, file: Path) -> None:
    """Listen, for as long as the server of the process that started this one is there."""
    trips: Counter[str] = Counter()

    async def connected(client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        server, forth = await asyncio.open_unix_connection(real)
        connection = _Connection(trips)
        forwards, backwards = connection.sent(client, forth), connection.answered(server, back, seconds)
        await asyncio.gather(forwards, backwards)

    while not Path(real).exists():
        await asyncio.sleep(0.01)
    await asyncio.start_unix_server(connected, socket)
    server = int(sys.argv[5])
    while os.getppid() == server:
        await asyncio.sleep(0.1)
        scratch = file.with_suffix(".new")
        scratch.write_text(json.dumps(trips))
        scratch.replace(file)


class _Connection:
    """One client."""

    def __init__(self, trips: Counter[str]) -> None:
        self._trips = trips
        self._is_answered = True

    async def sent(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        """Pass on what the client sends."""
        while data := await _read(source):
            if self._is_answered:
                self._trips[what(data)] += 1
                self._is_answered = False
            target.write(data)
        target.close()

    async def answered(self, source: asyncio.StreamReader, target: asyncio.StreamWriter, seconds: float) -> None:
        """Pass on what the server sends, each piece so long after it came."""
        loop = asyncio.get_running_loop()

        def write(data: bytes) -> None:
            self._is_answered = True
            target.write(data)

        while data := await _read(source):
            loop.call_later(seconds, write, data)
        loop.call_later(seconds, target.close)


async def _read(source: asyncio.StreamReader) -> bytes:
    try:
        return await source.read(CHUNK)
    except OSError:
        return b""  # it went away


NAMES = (
    "add", "awaited", "awake", "check_lease", "check_lease+awaited", "claim", "claim_long", "count", "finish",
    "finish+claim", "list", "progress", "release", "sweep",
)  # fmt: skip
SCRIPTS = {script(name)[1]: name for name in NAMES}


def what(request: bytes) -> str:
    """The first command of a request, or the name of its script."""
    parts = request[:200].split(b"\r\n", 5)
    command = parts[2].decode(errors="replace").upper() if len(parts) > 2 else "?"
    return SCRIPTS.get(parts[4].decode(errors="replace"), command) if command == "EVALSHA" else command


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], sys.argv[2], float(sys.argv[3]) / 1000, Path(sys.argv[4])))
