"""An API server that says what a test tells it to, for one kind."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web

from shared.adapters.kube import Connection
from shared.api.manifest import Manifest


@dataclass(frozen=True)
class Listed:
    """The answer to a list request."""

    items: Sequence[Manifest]
    version: str
    following: str = ""


@dataclass(frozen=True)
class Refused:
    """A refusal, of a list or of a watch."""

    status: int
    reason: str
    retry_after: str = ""


@dataclass(frozen=True)
class Lines:
    """The lines of a watch; then it stays open, ends, or breaks off in the middle of a line."""

    lines: Sequence[tuple[str, Manifest | bytes]] = ()
    end: str = "stays open"


Script = Sequence[Listed | Refused | Lines]


@dataclass
class ScriptedApi:
    """Answers requests in the order of the script; after its end, lists are empty and watches stay open."""

    script: list[Listed | Refused | Lines]
    asked: list[Mapping[str, str]] = field(default_factory=list)
    """The query of each request."""
    is_well: bool = True
    """The answer to probes."""
    probes: int = 0
    version: str = "opaque"
    """What the store has now, for whoever asks for no more than that."""
    asked_version: int = 0
    has_discovery: bool = True
    """It says that it serves no groups."""
    discovery: Mapping[str, Any] = field(default_factory=dict)
    """What it says instead, by the end of the path."""
    objects: Mapping[str, str] = field(default_factory=dict)
    """The versions of single objects now, by name."""
    is_over: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the last answer of the script was sent."""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/readyz":
            self.probes += 1
            return _json({}, 200 if self.is_well else 500)
        if request.query.get("limit") == "1":
            self.asked_version += 1
            return _json({"items": [], "metadata": {"resourceVersion": self.version}})
        for end, found in self.discovery.items():
            if request.path.endswith(end):
                return _json(found)
        if request.path == "/apis" or re.search("/v[0-9][^/]*$", request.path):
            return _json({"groups": []}, 200 if request.path == "/apis" and self.has_discovery else 404)
        if "/namespaces/" in request.path or re.search("/v[0-9][^/]*/[^/]+/[^/]+$", request.path):
            name = request.path.rpartition("/")[2]
            found = {"metadata": {"name": name, "resourceVersion": self.objects.get(name, "")}}
            return _json(found, 200 if name in self.objects else 404)
        self.asked.append(dict(request.query))
        output = self.script.pop(0) if self.script else Lines() if "watch" in request.query else Listed([], "5")
        match output:
            case Listed(items, version, following):
                meta = {"resourceVersion": version, "continue": following}
                response: web.StreamResponse = _json({"items": list(items), "metadata": meta})
            case Refused(status, reason, retry_after):
                response = _json({"kind": "Status", "reason": reason, "message": "no", "code": status}, status)
                response.headers.update({"Retry-After": retry_after} if retry_after else {})
            case Lines():
                return await self._stream(request, output)
        self._report()
        return response

    async def _stream(self, request: web.Request, output: Lines) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for kind, manifest in output.lines:
            raw = manifest if isinstance(manifest, bytes) else orjson.dumps({"type": kind, "object": manifest})
            line = raw + b"\n"
            # why: two writes, so that a line does not arrive in one piece
            await response.write(line[:7])
            await response.write(line[7:])
        self._report()
        match output.end:
            case "stays open":
                await asyncio.Event().wait()
            case "breaks":
                await response.write(b'{"type":')
                assert request.transport is not None
                request.transport.abort()
        return response

    def _report(self) -> None:
        if not self.script:
            self.is_over.set()


def _json(body: Any, status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(body), status=status, content_type="application/json")


@asynccontextmanager
async def an_api(*script: Listed | Refused | Lines) -> AsyncIterator[tuple[ScriptedApi, Connection]]:
    """A scripted API server on loopback."""
    api = ScriptedApi(list(script))
    app = web.Application()
    app.router.add_get("/{path:.*}", api.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield api, Connection(f"http://127.0.0.1:{runner.addresses[0][1]}")
    finally:
        await runner.cleanup()
