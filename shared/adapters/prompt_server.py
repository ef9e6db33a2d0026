"""An HTTP server for anybody in the network: how many connections there are at once, and how long each may take.

Answers are found in the loop that reads all connections, so they must be at hand; what takes longer is a function,
which a thread calls. A client that takes its bytes slowly costs a connection, and no thread.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from email.utils import formatdate
from http import HTTPStatus
from types import MappingProxyType
from typing import Final, TypeAlias

from shared.adapters.http_requests import END, LONGEST_HEAD, BadRequestError, Head, head_of, parsed

THREADS: Final = 2
_BACKLOG: Final = 1024
_PAUSE_SECONDS: Final = 0.05
GONE: Final = (OSError, TimeoutError, EOFError)
"""What clients do: they go away, or are slow."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a server does not exceed."""

    connections: int = 1536
    """At once; who comes beyond is hung up on. One with TLS takes up to 256 KiB, before it says anything, too."""
    request_seconds: float = 5.0
    """From the end of an answer, or the beginning of a connection, to the end of the next request."""
    answer_seconds: float = 300.0
    """From the first to the last byte of an answer."""
    body_bytes: int = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client gets."""

    status: HTTPStatus
    headers: Mapping[str, str]
    chunks: Iterable[bytes | memoryview] = ()
    size: int | None = 0
    """Of all chunks; None: nobody knows it before, and each is sent with its own."""
    is_slow: bool = False
    """Whether it takes a while to make a chunk, so that a thread does it."""
    is_last: bool = False
    """Whether the connection ends with it."""
    is_probe: bool = False
    """Whether nobody is told how long it took."""


Later: TypeAlias = Callable[[], Answer]
"""Finds an answer in a thread."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Who answers, and within which bounds."""

    answer: Callable[[Head, bytes], Answer | Later]
    """The answer to a request and its body."""
    bounds: Bounds = Bounds()
    takes_body: Callable[[Head], bool] = lambda _: False
    """Whether the body of a request is read; if not, a request with one is the last of its connection."""
    threads: int = THREADS
    """For answers that take longer."""
    observe: Callable[[HTTPStatus, float], None] = lambda *_: None
    """What is told the status of each answer, and the seconds from its request to its end."""


class _Server:
    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._connections: set[asyncio.Task[None]] = set()
        self._threads = ThreadPoolExecutor(asked.threads, "answer")
        self._date = (0, "")

    async def accept(self, place: socket.socket, trust: ssl.SSLContext | None) -> None:
        """Take connections for ever, as many as there may be: each counts before TLS is agreed on, too."""
        place.setblocking(False)
        while True:
            try:
                client, (name, *_) = await asyncio.get_running_loop().sock_accept(place)
            except OSError as error:  # why: a client that is gone already, or no more files, ends nobody else's
                _log.debug("nobody was let in: %s", error)
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            if len(self._connections) < self._asked.bounds.connections:
                task = asyncio.create_task(self._connected(client, name, trust))
                self._connections.add(task)
                task.add_done_callback(self._connections.discard)
            else:
                client.close()

    async def _connected(self, client: socket.socket, name: str, trust: ssl.SSLContext | None) -> None:
        """A connection from its beginning to its end; `name` is the address of who made it."""
        try:
            reader, writer = await self._streams(client, trust)
        except GONE as error:
            _log.debug("%s agreed on no TLS: %s", name, error)
            client.close()
            return
        try:
            while await self._request(reader, writer):
                pass
        except asyncio.CancelledError:
            pass  # the server ends
        except GONE as error:
            _log.debug("%s went away: %s", name, error)
        except Exception:  # noqa: BLE001  # why: a defect in one answer ends its connection alone
            _log.exception("an answer failed")
        finally:
            writer.transport.abort() if writer.transport.get_write_buffer_size() else writer.close()

    async def _streams(
        self, client: socket.socket, trust: ssl.SSLContext | None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """What is read and written, within TLS when there is some. OSError, TimeoutError."""
        loop, reader = asyncio.get_running_loop(), asyncio.StreamReader(LONGEST_HEAD)
        protocol = asyncio.StreamReaderProtocol(reader)
        patience = self._asked.bounds.request_seconds if trust else None
        transport, _ = await loop.connect_accepted_socket(
            lambda: protocol, client, ssl=trust, ssl_handshake_timeout=patience
        )
        return reader, asyncio.StreamWriter(transport, protocol, reader, loop)

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer a request; returns whether another one may follow."""
        head, started = None, 0.0
        try:
            async with asyncio.timeout(self._asked.bounds.request_seconds):
                if not (received := await _head(reader)):
                    return False
                started = time.perf_counter()
                head = parsed(received)
                body = await reader.readexactly(self._length(head))
            found = self._asked.answer(head, body)
            answer = found if isinstance(found, Answer) else await self._threaded(found)
        except BadRequestError as error:
            answer = text_answer(error.status, f"{error.status.value} {error.status.phrase}", is_last=True)
        if head is None or head.is_last or (head.has_body and not self._asked.takes_body(head)):
            answer = replace(answer, is_last=True)
        async with asyncio.timeout(self._asked.bounds.answer_seconds):
            await self._send(answer, head, writer)
        if started and not answer.is_probe:
            self._asked.observe(answer.status, time.perf_counter() - started)
        return not answer.is_last

    def _length(self, head: Head) -> int:
        return head.length(self._asked.bounds.body_bytes) if self._asked.takes_body(head) else 0

    async def _threaded(self, work: Callable[[], Answer]) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def _send(self, answer: Answer, head: Head | None, writer: asyncio.StreamWriter) -> None:
        first = self._head_of(answer)
        if head is None or head.method != "HEAD":
            async for piece in self._pieces(answer):
                writer.write(b"".join((first, *piece)))  # why: `writelines` waits for nobody before Python 3.13.2
                first = b""
                await writer.drain()
        if first:
            writer.write(first)
            await writer.drain()

    async def _pieces(self, answer: Answer) -> AsyncIterator[tuple[bytes | memoryview, ...]]:
        """The chunks as they are sent."""
        chunks, loop = iter(answer.chunks), asyncio.get_running_loop()
        while True:
            if answer.is_slow:
                chunk = await loop.run_in_executor(self._threads, next, chunks, None)
            else:
                chunk = next(chunks, None)
            if chunk is None:
                break
            yield (chunk,) if answer.size is not None else (b"%x\r\n" % len(chunk), chunk, b"\r\n")
        if answer.size is None:
            yield (b"0\r\n\r\n",)

    def _head_of(self, answer: Answer) -> bytes:
        more = {"Date": self._now()}
        if answer.status != HTTPStatus.NOT_MODIFIED:
            more |= {"Transfer-Encoding": "chunked"} if answer.size is None else {"Content-Length": str(answer.size)}
        return head_of(answer.status, {**answer.headers, **more, **({"Connection": "close"} if answer.is_last else {})})

    def _now(self) -> str:
        """The time of an answer, put into words once a second."""
        second = int(time.time())
        if second != self._date[0]:
            self._date = second, formatdate(second, usegmt=True)
        return self._date[1]


def text_answer(
    status: HTTPStatus, message: str, more: Mapping[str, str] = MappingProxyType({}), *, is_last: bool = False
) -> Answer:
    """An answer with a line of text."""
    content = f"{message}\n".encode()
    headers = {"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff", **more}
    return Answer(status, headers, (content,), len(content), is_last=is_last)


async def _head(reader: asyncio.StreamReader) -> bytes:
    """The next head; empty at the end of the connection."""
    try:
        return await reader.readuntil(END)
    except asyncio.IncompleteReadError as error:
        if error.partial.strip():
            raise
        return b""
    except asyncio.LimitOverrunError:
        raise BadRequestError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE) from None


def listening(host: str, port: int) -> socket.socket:
    """A socket; without a host on every address, of both versions of IP if there are both. OSError, OverflowError."""
    if not host and socket.has_dualstack_ipv6():
        return socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=_BACKLOG)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=_BACKLOG)


@contextmanager
def running(place: socket.socket, asked: Asked, *, trust: ssl.SSLContext | None = None) -> Iterator[int]:
    """The port of a server that answers in a thread until the end of the block; over TLS with `trust`."""
    with closing(place):
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=_serve, args=(loop, place, asked, trust), daemon=True, name="http")
        thread.start()
        try:
            yield int(place.getsockname()[1])
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()


def _serve(loop: asyncio.AbstractEventLoop, place: socket.socket, asked: Asked, trust: ssl.SSLContext | None) -> None:
    """Answer until the loop is stopped; what is going on then is given up."""
    asyncio.set_event_loop(loop)
    loop.create_task(_Server(asked).accept(place, trust))
    try:
        loop.run_forever()
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.gather(*asyncio.all_tasks(loop), return_exceptions=True))
        loop.close()
