"""Sends long answers a part at a time: clients that read slowly, or many that read at once, keep no more in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

from aiohttp import web

_CHUNK: Final = 65_536
_SEND_SECONDS: Final = 60.0
"""How long a client may take to read a list."""


async def send(response: web.StreamResponse, parts: Iterable[bytes]) -> None:
    """These parts, some together; each is made when those before it were sent."""
    waiting = bytearray()
    for part in parts:
        waiting += part
        if len(waiting) > _CHUNK:
            await response.write(bytes(waiting))
            waiting.clear()
            await asyncio.sleep(0)  # why: a client that reads as fast as we write would keep out all others
    if waiting:
        await response.write(bytes(waiting))


async def sent(request: web.Request, parts: Iterable[bytes]) -> web.StreamResponse:
    """The answer of JSON when the client has it, is gone, or took too long to read it."""
    answer = web.StreamResponse(headers={"Content-Type": "application/json"})
    answer.enable_compression()
    try:
        async with asyncio.timeout(_SEND_SECONDS):
            await answer.prepare(request)
            await send(answer, parts)
            await answer.write_eof()
    except TimeoutError:
        if request.transport is not None:
            request.transport.abort()
    except ConnectionResetError:
        pass
    return answer
