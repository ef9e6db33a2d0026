"""The sandbox as a program: listens on loopback, writes a kubeconfig, ends on SIGTERM."""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TypeVar

import orjson
import structlog
from aiohttp import web

from eventing.local.apiserver import (
    aggregation,
    authentication,
    authorization,
    definitions,
    discovery,
    dispatch,
    front_proxy,
    openapi,
    watch,
)
from eventing.local.apiserver.bodies import MAX_BYTES
from eventing.local.apiserver.bootstrap import fill_empty
from eventing.local.apiserver.calling import ask_all
from eventing.local.apiserver.calls import Call, parse
from eventing.local.apiserver.collector import Collector
from eventing.local.apiserver.failures import Failure, bad_request, not_allowed
from eventing.local.apiserver.fair_queue import FairQueue
from eventing.local.apiserver.forwarding import Availability, forward
from eventing.local.apiserver.journal_file import JournalFile
from eventing.local.apiserver.outbound import Unanswered
from eventing.local.apiserver.resources import Registry
from eventing.local.apiserver.store import Store, Stored
from eventing.local.apiserver.verbs import Answer
from eventing.local.apiserver.world import World
from shared.adapters.whole_file import write_whole
from shared.domain.go.text import quoted

log = structlog.get_logger()
_T = TypeVar("_T")
JSON = "application/json"
HEALTH_PATHS = ("/healthz", "/livez", "/readyz")
"""What every user may ask, as `/version`."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one sandbox."""

    state: Path
    """Folder of the kubeconfig and of the stored state."""
    port: int = 0
    """The port; 0: any free port, after a restart the same one if possible."""
    is_kept: bool = True
    """Whether objects survive a restart."""
    bookmark_seconds: float = 30.0
    """Interval of bookmarks on an idle watch."""
    pod_network: str = ""
    """`host:port` of the HTTP proxy to the Pods; empty: they are reached directly."""


def open_world(settings: Settings) -> World:
    """The stored world, or a new one."""
    settings.state.mkdir(parents=True, exist_ok=True)
    store = Store(JournalFile(settings.state / "objects.jsonl") if settings.is_kept else None)
    store.compact()
    registry = Registry()
    definitions.restore(store, registry)
    token, secret = _remembered(settings.state / "token"), _remembered(settings.state / "secret")
    return World(
        store, registry, token, secret.encode(), bookmark_seconds=settings.bookmark_seconds,
        pod_network=settings.pod_network, front_proxy=front_proxy.remembered(settings.state),
    )  # fmt: skip


def _remembered(path: Path) -> str:
    """A random text, the same at every start."""
    if not path.exists():
        write_whole(path, [secrets.token_urlsafe(24).encode()], mode=0o600)
    return path.read_text()


class Server:
    """Answers requests from one world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._queue = FairQueue()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Any request."""
        try:
            return await self._answer(request)
        except Failure as failure:
            return _json(failure.status, failure.code)
        except Exception as error:  # a bug of ours: the log gets the traceback, the client an error answer
            log.exception("sandbox_failed", path=split_token(request.path)[0])
            return _json(Failure(500, "InternalError", f"Internal error occurred: {error!r}").status, 500)

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        path, token = split_token(request.path)
        user = authentication.authenticate(request.headers.get("Authorization", "") or token, self._world)
        user = authorization.impersonate(user, request.headers, self._world)
        if path.rstrip("/") == "/version":
            return _json(discovery.version(self._world.version))
        if path in HEALTH_PATHS:
            return web.Response(text="ok")
        accept = request.headers.get("Accept", JSON)
        if (elsewhere := self._elsewhere(path)) is not None:
            act = authorization.remote_act(request.method, path, request.query)
            authorization.authorize_act(act, user, self._world)
            return await forward(request, path, elsewhere, self._world, user=user)
        if (found := self._documents(path, accept)) is not None:
            authorization.authorize_path(path, user, self._world)
            return found
        agent, time = request.headers.get("User-Agent", ""), self._world.now()
        call = parse(request.method, path, request.query, self._world.registry, user=user, agent=agent, time=time)
        authorization.authorize(call, user, self._world)
        if call.verb not in call.resource.verbs and not call.subresource:
            raise not_allowed()
        if call.verb == "watch":
            return await self._watch(request, call, accept)
        body, kind = await read_body(request), request.headers.get("Content-Type", "")

        def serve_call() -> Answer:
            try:
                return dispatch.serve(call, self._world, body, kind, accept=accept)
            except Failure as failure:
                return Answer(failure.code, orjson.dumps(failure.status))  # with the warnings so far

        answer = await self._complete(call, serve_call)
        headers = [("Warning", f"299 - {quoted(text)}") for text in _shown(call.warnings)]
        return web.Response(body=answer.body, status=answer.code, content_type=JSON, headers=headers)

    def _elsewhere(self, path: str) -> Stored | None:
        """The APIService whose server has what is below a path; None when it is ours."""
        match path.strip("/").split("/"):
            case ["apis", group, version, *_]:
                return aggregation.remote(group, version, self._world)
        return None

    async def _complete(self, call: Call, act: Callable[[], _T], *, is_shared: bool = True) -> _T:
        """The result of `act`, which is begun anew with each reply of another server that it lacks.

        `is_shared` says whether users share the time for it.
        """
        while True:
            call.warnings.clear()
            try:
                async with self._queue.turn(call.user.name) if is_shared else nullcontext():
                    return act()
            except Unanswered as missing:
                call.replies.update(await ask_all(self._world, missing.requests))

    def _documents(self, path: str, accept: str) -> web.Response | None:
        """Discovery and schemas."""
        aggregated = "as=APIGroupDiscoveryList" in accept and "v=v2;" in f"{accept.partition(',')[0]};"
        if (found := discovery.describe(path, self._world.registry, aggregated=aggregated)) is not None:
            kind = discovery.AGGREGATED if found["kind"] == "APIGroupDiscoveryList" else JSON
            return web.Response(body=orjson.dumps(found), headers={"Content-Type": kind})
        # why: kubectl reads v2 for a List, which v3 does not contain, and accepts a document without types
        if path == openapi.V2:
            return web.Response(body=b"", headers={"Content-Type": openapi.V2_MEDIA})
        if (document := openapi.describe(path, self._world.registry)) is not None:
            return _json(document)
        return None

    async def _watch(self, request: web.BaseRequest, call: Call, accept: str) -> web.StreamResponse:
        async with self._queue.turn(call.user.name):
            opened = watch.open_watch(call, self._world, accept)
        response = web.StreamResponse(headers={"Content-Type": JSON, "Cache-Control": "no-cache, private"})
        response.enable_chunked_encoding()
        try:
            first = await self._complete(call, opened.first)
            await response.prepare(request)
            await response.write(first)
            async for changes in opened.changes():
                if piece := await self._complete(call, partial(opened.lines_of, changes), is_shared=False):
                    await response.write(piece)
                call.replies.clear()
            await response.write_eof()
        except ConnectionResetError:
            return response  # the client disconnected: most watches end like this
        finally:
            self._world.store.unsubscribe(opened.feed)
        return response


async def read_body(request: web.BaseRequest) -> bytes:
    """The whole body, up to the size limit of the real server."""
    body = bytearray()
    try:
        async for piece in request.content.iter_any():
            body += piece
            if len(body) > MAX_BYTES:
                raise Failure(413, "RequestEntityTooLarge", f"Request entity too large: limit is {MAX_BYTES}")
    except web.RequestPayloadError as error:
        raise bad_request(f"the body cannot be read: {error}") from error
    return bytes(body)


MAX_WARNINGS, MAX_WARNING = 4096, 256
"""Characters of all warnings of an answer, and of each of them where all together would have more."""
TOKEN_PATH = "/token/"  # noqa: S105  # a path, not a token


def split_token(path: str) -> tuple[str, str]:
    """The path without the token prefix, and the token.

    kubectl sends no credentials over plain HTTP, so the address in the kubeconfig contains them.
    """
    if not path.startswith(TOKEN_PATH):
        return path, ""
    token, slash, rest = path.removeprefix(TOKEN_PATH).partition("/")
    return slash + rest, token


def _shown(warnings: Sequence[str]) -> Sequence[str]:
    """The first warnings, until they have the maximum length; each is cut when not all of them fit."""
    if sum(map(len, warnings)) > MAX_WARNINGS:
        warnings = [text[:MAX_WARNING] for text in warnings]
    return warnings[: 1 + sum(length < MAX_WARNINGS for length in accumulate(map(len, warnings)))]


def _json(body: object, code: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(body), status=code, content_type=JSON)


def write_kubeconfig(path: Path, port: int, token: str) -> None:
    """Write the kubeconfig for clients."""
    config = {
        "apiVersion": "v1", "kind": "Config", "current-context": "sandbox",
        "clusters": [{"name": "sandbox", "cluster": {"server": f"http://127.0.0.1:{port}{TOKEN_PATH}{token}"}}],
        "users": [{"name": "admin", "user": {"token": token}}],
        "contexts": [{"name": "sandbox", "context": {"cluster": "sandbox", "user": "admin", "namespace": "default"}}],
    }  # fmt: skip
    write_whole(path, [orjson.dumps(config, option=orjson.OPT_INDENT_2)], mode=0o600)


def runner_of(world: World) -> web.ServerRunner:
    """The web server of a world. A watch ends with its connection, even when it has nothing to send."""
    server = web.Server(Server(world).handle, access_log=None, handler_cancellation=True)
    return web.ServerRunner(server, shutdown_timeout=1.0)


async def serve(
    settings: Settings, ready: Callable[[Path], None] = lambda _: None, stop: asyncio.Event | None = None
) -> None:
    """Serve until SIGTERM, SIGINT or `stop`."""
    stopping = stop or asyncio.Event()
    world = open_world(settings)
    collector = Collector(world)
    fill_empty(world)
    collector.catch_up()
    runner = runner_of(world)
    await runner.setup()
    port = await _listen(runner, settings)
    work = [asyncio.create_task(task) for task in (collector.run(), Availability(world).run())]
    if stop is None:
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    kubeconfig = settings.state / "kubeconfig"
    write_kubeconfig(kubeconfig, port, world.token)
    ready(kubeconfig)
    waiting = asyncio.create_task(stopping.wait())
    await asyncio.wait({waiting, *work}, return_when=asyncio.FIRST_COMPLETED)
    world.store.end_feeds()
    await runner.cleanup()
    world.store.close()
    ended = [task for task in work if task.done()]
    for task in (waiting, *work):
        task.cancel()
    await asyncio.gather(waiting, *work, return_exceptions=True)
    for task in ended:
        task.result()


async def _listen(runner: web.ServerRunner, settings: Settings) -> int:
    """Bind the wanted port, else the port of the last start, else any; returns the port."""
    memoized = settings.state / "port"
    last = int(memoized.read_text()) if not settings.port and memoized.exists() else 0
    for port in dict.fromkeys((settings.port or last, settings.port)):
        try:
            await web.TCPSite(runner, "127.0.0.1", port, backlog=1024).start()
            break
        except OSError:
            if port == settings.port:
                raise
    bound = int(runner.addresses[0][1])
    write_whole(memoized, [str(bound).encode()])
    return bound
