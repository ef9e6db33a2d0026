"""What the process of a query may take, and how the one that forks it comes and goes."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import orjson
import pytest

from shared.adapters.catalog_api.graphql import fork_server
from shared.adapters.catalog_api.graphql.fields import discovered
from shared.adapters.catalog_api.graphql.forks import DeadlineExceeded, Forks, QueryFailed
from shared.adapters.catalog_api.graphql.request import BEGUN, Request
from shared.adapters.catalog_api.line_file import Opened
from shared.adapters.catalog_api.lines import Lines
from shared.adapters.content.folders import snapshot_of
from shared.adapters.content.store import Store
from tests.kit.catalogs import tea, written
from tests.kit.waiting import PATIENCE_SECONDS

MEMORY = 256 * 1024 * 1024
MOMENT = 0.2
"""Seconds that a query has which never ends."""


@pytest.fixture(scope="module")
def request_of_all(tmp_path_factory: pytest.TempPathFactory) -> Request:
    folder = tmp_path_factory.mktemp("lines")
    store = Store(folder / "store")
    lines = Lines(snapshot_of(written(folder / "catalog", *tea()), store), store).file()
    fields = folder / "fields"
    fields.write_bytes(msgspec.json.encode(discovered(Opened(lines))))
    return Request("{olmpackages{name}}", str(lines), str(fields), MEMORY, PATIENCE_SECONDS)


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with closing(Forks()) as found:
        yield found


@pytest.fixture
def endless(request_of_all: Request, tmp_path: Path) -> Request:
    """A query of a file that nobody ever writes: opening it waits."""
    os.mkfifo(tmp_path / "lines")
    return msgspec.structs.replace(request_of_all, lines=str(tmp_path / "lines"), seconds=MOMENT)


def is_answered(forks: Forks, request: Request) -> bool:
    return bool(orjson.loads(forks.run(request)) == {"data": {"olmpackages": [{"name": "tea"}]}})


def test_v1_md_7_the_system_ends_the_process_of_a_query_that_takes_too_long(forks: Forks, endless: Request) -> None:
    with forks._connected() as client:
        client.settimeout(PATIENCE_SECONDS)
        client.sendall(msgspec.json.encode(endless))
        client.shutdown(socket.SHUT_WR)
        with client.makefile("rb") as received:
            assert received.read() == BEGUN, "nothing more, and its end has come"


def test_v1_md_7_whoever_waits_for_it_is_told(forks: Forks, request_of_all: Request, endless: Request) -> None:
    with pytest.raises(DeadlineExceeded):
        forks.run(endless)
    assert is_answered(forks, request_of_all)


def test_a_query_that_takes_too_much_memory_fails_alone(forks: Forks, request_of_all: Request) -> None:
    large = "{" + "a " * 200_000 + "}"
    with pytest.raises(QueryFailed):
        forks.run(msgspec.structs.replace(request_of_all, query=large, memory=64 * 1024 * 1024))
    assert is_answered(forks, request_of_all)


def test_the_reason_is_told(forks: Forks, request_of_all: Request) -> None:
    with pytest.raises(QueryFailed, match="FileNotFoundError: "):
        forks.run(msgspec.structs.replace(request_of_all, lines="nowhere"))


def test_the_next_query_is_forked_of_the_same_process(forks: Forks, request_of_all: Request) -> None:
    assert is_answered(forks, request_of_all)
    server = forks._server
    assert is_answered(forks, request_of_all)
    assert forks._server is server


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "ended"])
def test_who_forks_them_is_started_again(forks: Forks, request_of_all: Request, number: int) -> None:
    assert is_answered(forks, request_of_all)
    assert forks._server
    forks._server.send_signal(number)
    forks._server.wait(PATIENCE_SECONDS)
    assert is_answered(forks, request_of_all)


def test_one_that_hangs_is_replaced(forks: Forks, request_of_all: Request) -> None:
    assert is_answered(forks, request_of_all)
    hanging = forks._server
    assert hanging
    hanging.send_signal(signal.SIGSTOP)
    with pytest.raises(DeadlineExceeded):
        forks.run(msgspec.structs.replace(request_of_all, seconds=MOMENT))
    assert hanging.poll() == -signal.SIGKILL
    assert is_answered(forks, request_of_all)


def test_a_query_that_comes_while_it_ends_is_handed_over_again(
    forks: Forks, request_of_all: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, (client, gone) = forks._connected, socket.socketpair()
    gone.close()
    connections = [client]
    monkeypatch.setattr(forks, "_connected", lambda: connections.pop() if connections else connect())
    assert is_answered(forks, request_of_all)


def test_without_queries_it_ends() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        fork_server.serve(theirs, idle_seconds=0)


def test_it_ends_with_whoever_started_it() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        ours.close()
        fork_server.serve(theirs)
