"""The network of simulated Pods: an HTTP proxy (`CONNECT`) that leads from the address of a Pod to its server.

Addresses of Pods belong to no interface of this machine, and their servers listen on free ports of the loopback. An API
server reaches them through this proxy: a sandbox by its settings, a real one by its egress selector.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TypeAlias

import structlog

Place: TypeAlias = tuple[str, int]
"""Address of a Pod, and a port of its container."""
HEAD_SECONDS = 10.0
MAX_PIECE = 64 * 1024
log = structlog.get_logger()


class PodNetwork:
    """The ports on which the servers of Pods really listen, and the proxy to them."""

    def __init__(self) -> None:
        self._ports: dict[Place, int] = {}
        self._server: asyncio.Server | None = None

    async def open(self, address: str) -> None:
        """Listen on `host:port`, or on the Unix socket `/path`. OSError, when that is not possible."""
        if address.startswith("/"):
            self._server = await asyncio.start_unix_server(self._serve, address)
            return
        host, _, port = address.rpartition(":")
        self._server = await asyncio.start_server(self._serve, host, int(port))

    async def close(self) -> None:
        """Listen no longer."""
        if self._server:
            self._server.close()

    def join(self, place: Place, port: int) -> None:
        """Lead to a port of the loopback."""
        self._ports[place] = port

    def leave(self, place: Place) -> None:
        """Lead nowhere again."""
        self._ports.pop(place, None)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                port = self._ports.get(_place_of(head))
                if port is None:
                    writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
                    await writer.drain()
                    return
                there = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_pass_on(reader, there[1]))
                tasks.create_task(_pass_on(there[0], writer))
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            log.info("pod_connection_ended", error=str(error))
        finally:
            writer.close()


def _place_of(head: bytes) -> Place:
    """The address and port in the first line of a request."""
    words = head.partition(b"\r\n")[0].decode("latin-1").split(" ")
    host, _, port = (words[1] if words[0] == "CONNECT" and len(words) > 1 else "").rpartition(":")
    return host, int(port) if port.isdigit() else 0


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):  # one end has gone: the other one learns it by the end of the stream
        while piece := await reader.read(MAX_PIECE):
            writer.write(piece)
            await writer.drain()
    with suppress(ConnectionError, RuntimeError):
        writer.close()
