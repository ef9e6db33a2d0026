"""What clients of a served ClusterCatalog wait for, and what each costs. Needs the community catalog."""

from __future__ import annotations

import http.client
import json
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from shared.adapters.catalog_api import web
from shared.adapters.catalog_api.lines import Lines, lines_indexer
from shared.adapters.content.indexing import indexed
from shared.adapters.content.snapshot import Snapshot, Source, identity_of
from shared.adapters.content.snapshot.writing import write
from shared.adapters.content.store import Store
from shared.adapters.files import files
from tests.bench.row import Row
from tests.bench.snapshots import COMMUNITY, parsing
from tests.bench.timing import ROUNDS, of_children
from tests.kit.waiting import wait_for

PROCESSES: Final = 2
CONNECTIONS: Final = 4
"""Of each client; there is one for each server."""
RATE: Final = 2000
"""Requests a second, of all clients together."""
SECONDS: Final = 4
_NAME: Final = "catalog-community"
"""Of the snapshot in its store."""
CLIENT: Final = "client"
_SERVER: Final = "server"


def rows() -> Iterable[Row]:
    """Every row of this page; none where the catalog is not here."""
    if not COMMUNITY.is_dir():
        sys.stdout.write(f"{COMMUNITY} is not here: no rows about a served catalog\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        yield _until_served(Path(folder))
        package = _median(Path(folder) / "0")
        for coding in ("identity", "gzip"):
            yield from _asked(Path(folder) / "0", package, coding)


def _until_served(folder: Path) -> Row:
    """From the files of an image to the first answer: the index, and the lines that are served."""
    stores = (Store(folder / str(number)) for number in range(10))

    def served() -> None:
        store = next(stores)
        sources = [Source(one.name, one.path, identity_of(one.path)) for one in files(COMMUNITY)]
        indexer = lines_indexer(store)

        def fill(stream: BinaryIO) -> None:
            indexer(_NAME, lambda observe: write(stream, sources, folder=str(COMMUNITY), observe=observe))

        Lines(indexed(store, _NAME, fill), store).matching()

    both = [_processor_seconds_of_both(served) for _ in range(ROUNDS)]
    return Row(
        "the community catalog, from its files to served, against orjson", min(map(max, both)) / parsing(), 3, "times"
    )


def _processor_seconds_of_both(act: Callable[[], None]) -> tuple[float, float]:
    """Of this process, and of the one that shares its work."""
    before = time.process_time(), of_children()
    act()
    return time.process_time() - before[0], of_children() - before[1]


def _median(place: Path) -> str:
    """The package of which half of the others have more documents."""
    store = Store(place)
    snapshot = Snapshot.open(store.needed(_NAME), store.needed)
    lines = Lines(snapshot, store)
    sizes = sorted((lines.matching(package=name).size, name) for name in snapshot.names)
    return sizes[len(sizes) // 2][1]


def _asked(place: Path, package: str, coding: str) -> Iterator[Row]:
    path = f"/catalogs/community/api/v1/metas?package={package}"
    with ExitStack() as stack:
        servers = [stack.enter_context(started(_SERVER, str(place))) for _ in range(PROCESSES)]
        ports = [json.loads(line_of(one)) for one in servers]
        for port in ports:
            _ask(http.client.HTTPConnection("127.0.0.1", port), path, coding)
        before = sum(map(_processor_seconds, servers))
        clients = [stack.enter_context(started(CLIENT, str(port), path, coding)) for port in ports]
        took = sorted(seconds for one in clients for seconds in json.loads(line_of(one)))
        spent = sum(map(_processor_seconds, servers)) - before
    what = f"/metas of a package of average size, {coding}"
    yield Row(
        f"{what}: answered in {SECONDS} s by {PROCESSES} processes", len(took) / SECONDS, 0.99 * RATE, "1/s", True
    )
    yield Row(f"{what}: p99 of that", 1000 * took[len(took) * 99 // 100], 10, "ms")
    yield Row(f"{what}: processor time of a request", 1e6 * spent / len(took), 1e6 * PROCESSES / RATE, "µs")


@contextmanager
def started(*words: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.bench.serving", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as process:
        yield process
        process.terminate()


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def _processor_seconds(process: subprocess.Popen[str]) -> float:
    threads = Path(f"/proc/{process.pid}/task").iterdir()
    return sum(int((one / "schedstat").read_text().split()[0]) for one in threads) / 1e9


def _serve(place: str) -> None:
    store = Store(Path(place))
    lines = Lines(Snapshot.open(store.needed(_NAME), store.needed), store)
    with web.running({"community": lines}) as port:
        sys.stdout.write(f"{port}\n")
        sys.stdout.flush()
        sys.stdin.read()


def _load(port: int, path: str, coding: str, authority: str = "", rate: int = RATE) -> list[float]:
    """How long each request took, from the moment at which it was due; over TLS where the file of its CA is given."""
    took: list[float] = []
    each = rate // PROCESSES // CONNECTIONS
    begin = time.perf_counter() + 0.2

    def work(number: int) -> None:
        connection = _connection(port, authority)
        for turn in range(each * SECONDS):
            due = begin + (turn + number / CONNECTIONS) / each
            if due > begin + SECONDS or time.perf_counter() > begin + SECONDS:
                return
            time.sleep(max(due - time.perf_counter(), 0))
            _ask(connection, path, coding)
            took.append(time.perf_counter() - due)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(CONNECTIONS)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return took


def _connection(port: int, authority: str) -> http.client.HTTPConnection:
    if authority:
        trust = ssl.create_default_context(cafile=authority)
        return http.client.HTTPSConnection("127.0.0.1", port, context=trust)
    return http.client.HTTPConnection("127.0.0.1", port)


def ready(port: int, path: str, coding: str, authority: str) -> None:
    """Return once it is answered there."""
    wait_for(lambda: _is_answered(port, path, coding, authority), f"an answer at {port}")


def _is_answered(port: int, path: str, coding: str, authority: str) -> bool:
    try:
        _ask(_connection(port, authority), path, coding)
    except (OSError, RuntimeError):  # it does not listen yet, or has not what is asked for
        return False
    return True


def _ask(connection: http.client.HTTPConnection, path: str, coding: str) -> None:
    connection.request("GET", path, headers={"Accept-Encoding": coding})
    answer = connection.getresponse()
    answer.read()
    if answer.status != http.HTTPStatus.OK:
        raise RuntimeError(f"{path}: {answer.status}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["server", place]:
            _serve(place)
        case ["client", port, path, coding]:
            sys.stdout.write(json.dumps(_load(int(port), path, coding)) + "\n")
        case ["client", port, path, coding, authority, rate]:
            sys.stdout.write(json.dumps(_load(int(port), path, coding, authority, int(rate))) + "\n")
        case _:
            for row in rows():
                print(row, flush=True)
