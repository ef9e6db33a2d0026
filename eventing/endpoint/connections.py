"""Connections that end when no request comes, and a bound on their number."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
"""How long the head of a request may take, from the connection or its first byte."""
MOST = 512
"""Beyond it the oldest connection without a request is closed, which may be the new one."""


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, which has no deadline for a first request."""

    head_seconds = HEAD_SECONDS
    most = MOST
    _timer: asyncio.TimerHandle | None = None
    since = 0.0
    """When the connection was made."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """A client has connected."""
        super().connection_made(transport)
        self.since = self.loop.time()
        self._expect_head()
        if len(self.connections) > self.most:
            idle = [one for one in cast("set[Any]", self.connections) if not one.is_busy]
            min(idle, key=lambda one: float(one.since)).transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes of a request: its head, or a part of its body."""
        super().data_received(data)
        self._expect_head()

    @property
    def is_busy(self) -> bool:
        """A request is being received or answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def _expect_head(self) -> None:
        if self.is_busy:
            self._stop_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(self.head_seconds, self._end)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self) -> None:
        self._timer = None
        if not self.is_busy and not self.transport.is_closing():
            self.transport.close()
