"""The registry API of many catalogs at one port: the name that a client dials says which one it asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final, Protocol, TypeVar

import grpc

from shared.adapters.catalog_api.answers import Answers
from shared.adapters.catalog_api.call_limits import CallLimits
from shared.adapters.catalog_api.server import NOT_SHARED, bind

T = TypeVar("T")
CALLS: Final = 64
"""Calls at a time, each in a thread; who calls beyond is told that there are too many."""
CALLS_OF_ONE: Final = 16
"""Of those, of one address."""
STREAM_SECONDS: Final = 300.0
"""How long a stream may take, whatever the pace of who reads it."""
ASKING_SECONDS: Final = 10.0
"""How long a client may take to ask; reflection, a stream of questions, ends then."""
_GRACE_SECONDS: Final = 5.0
_OPTIONS: Final = (
    NOT_SHARED,
    ("grpc.max_receive_message_length", 64 * 1024),  # of a question; answers are as long as what a catalog states
    ("grpc.max_concurrent_streams", CALLS_OF_ONE),
    ("grpc.max_allowed_incoming_connections", 2048),
    ("grpc.max_connection_idle_ms", 30 * 60 * 1000),
)


class Catalogs(Protocol):
    """The catalogs by the name that is dialled."""

    def answers(self, authority: str) -> Answers:
        """The catalog. NoCatalogError, NotHereError."""
        ...

    def check(self, authority: str) -> None:
        """The same errors, without reading anything."""
        ...

    def forget(self, authority: str, answers: Answers) -> None:
        """Content that these answers lean on is gone."""
        ...


@contextmanager
def running(
    catalogs: Catalogs,
    address: str,
    *,
    of_one: int = CALLS_OF_ONE,
    seconds: float = STREAM_SECONDS,
    asking_seconds: float = ASKING_SECONDS,
) -> Iterator[int]:
    """The port of a server that answers until the end of the block. PortTakenError."""
    server = grpc.server(
        ThreadPoolExecutor(CALLS, "registry-api"),
        interceptors=[CallLimits(of_one=of_one, seconds=seconds, asking_seconds=asking_seconds)],
        options=_OPTIONS,
        maximum_concurrent_rpcs=CALLS,
    )
    answers, check = _by_authority(catalogs.answers), _by_authority(catalogs.check)
    port = bind(
        server, address, answers, check, forget=lambda context, one: catalogs.forget(authority_of(context), one)
    )
    server.start()
    try:
        yield port
    finally:
        server.stop(_GRACE_SECONDS).wait()


def _by_authority(find: Callable[[str], T]) -> Callable[[grpc.ServicerContext], T]:
    return lambda context: find(authority_of(context))


def authority_of(context: grpc.ServicerContext) -> str:
    """The `:authority` of a call: the library knows it, and has no public name for it."""
    host: bytes = context._rpc_event.call_details.host  # noqa: SLF001
    return host.decode(errors="replace")
