"""Asks the servers of APIServices: whether they are there, and for what clients want of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import aiohttp
import structlog
from aiohttp import web
from multidict import CIMultiDict

from eventing.local.apiserver import aggregation, calling, endpoints
from eventing.local.apiserver.api_services import TABLE
from eventing.local.apiserver.calls import User
from eventing.local.apiserver.store import Change, Stored
from eventing.local.apiserver.world import World
from shared.api.manifest import ReadOnly

CHECK_SECONDS, POLL_SECONDS, REST_SECONDS = 5.0, 1.0, 10.0
"""Time of one check; interval of the checks of what is not available, and of what is."""
ATTEMPTS = 5
"""Requests of one check before its server counts as unavailable: the one that was asked may just be going."""
CHECKER = User("system:kube-aggregator", ("system:masters",))
_PASSED_ON = ("Accept", "Accept-Encoding", "Content-Type", "If-None-Match", "User-Agent")
_PASSED_BACK = ("Content-Type", "Content-Encoding", "ETag", "Vary", "Warning", "X-Content-Type-Options")
PIECE = 64 * 1024
log = structlog.get_logger()


async def forward(
    request: web.BaseRequest, path: str, stored: Stored, world: World, *, user: User
) -> web.StreamResponse:
    """The response of the server of an APIService to a request of a user."""
    if not aggregation.is_available(stored.manifest):
        return web.Response(status=503, text="service unavailable\n")
    headers = {name: request.headers[name] for name in _PASSED_ON if name in request.headers}
    try:
        url, options = way_to(stored.manifest, user, headers, world)
    except calling.Unreachable:
        return web.Response(status=503, text="service unavailable\n")
    query, body = f"?{request.query_string}" if request.query_string else "", await request.read()
    session = aiohttp.ClientSession(
        connector=calling.connector(), auto_decompress=False, skip_auto_headers=("Accept-Encoding",)
    )
    try:
        async with session, session.request(request.method, url + path + query, data=body, **options) as answer:
            response = web.StreamResponse(status=answer.status)
            response.headers.update({name: answer.headers[name] for name in _PASSED_BACK if name in answer.headers})
            response.headers.setdefault("Content-Type", "application/json")
            await response.prepare(request)
            async for piece in answer.content.iter_chunked(PIECE):
                await response.write(piece)
            await response.write_eof()
            return response
    except aiohttp.ClientConnectionError as error:
        why = calling.describe_error(error, aggregation.address_of(stored.manifest))
        return web.Response(status=503, text=f"error trying to reach service: {why}\n")


def way_to(api_service: ReadOnly, user: User, headers: Mapping[str, str], world: World) -> tuple[str, dict[str, Any]]:
    """The URL of the server, and the options of a request that tell it who asks. Unreachable."""
    own = world.front_proxy.certificate if world.front_proxy else None
    is_checked = not api_service["spec"].get("insecureSkipTLSVerify")
    url, options = calling.way_to(aggregation.address_of(api_service), world, own=own, is_checked=is_checked)
    passed = CIMultiDict({"Host": options["headers"]["Host"], **headers, "X-Remote-User": user.name})
    if user.uid:
        passed["X-Remote-Uid"] = user.uid
    for group in user.groups:
        passed.add("X-Remote-Group", group)
    return url.rstrip("/"), {**options, "headers": passed}


class Availability:
    """The controller that checks every APIService that names a Service."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._wake = asyncio.Event()
        self._checked: dict[str, float] = {}
        world.store.observe(self._observe)

    def _observe(self, change: Change) -> None:
        table, _, name = change.now.key
        if table == TABLE:
            self._checked.pop(name, None)
            if change.type == "DELETED":
                aggregation.forget_kinds(name, self._world)
        elif table in (endpoints.TABLE, endpoints.SERVICES):
            self._checked.clear()
        else:
            return
        self._wake.set()

    async def run(self) -> None:
        """Check for ever."""
        while True:
            self._wake.clear()
            await asyncio.gather(*(self._check(stored) for stored in self._due()))
            try:
                await asyncio.wait_for(self._wake.wait(), POLL_SECONDS)
            except TimeoutError:
                continue

    def _due(self) -> list[Stored]:
        now = asyncio.get_running_loop().time()
        remote = [one for one in self._world.store.list(TABLE) if one.manifest["spec"].get("service")]
        return [one for one in remote if now >= self._checked.get(one.key[2], 0.0)]

    async def _check(self, stored: Stored) -> None:
        world, document = self._world, None
        state = aggregation.obstacle_of(stored.manifest, world)
        if state is None:
            state, document = await self._attempt(stored)
        present = world.store.get(stored.key)
        if present is None or present.manifest["spec"] != stored.manifest["spec"]:
            return  # changed meanwhile: checked again
        if document is not None:
            aggregation.serve_kinds(present, document, world)
        try:
            aggregation.report(present, state, world)
        except OSError as error:
            log.warning("availability_not_written", api_service=stored.key[2], error=str(error))
        pause = REST_SECONDS if state == aggregation.PASSED else POLL_SECONDS
        self._checked[stored.key[2]] = asyncio.get_running_loop().time() + pause

    async def _attempt(self, stored: Stored) -> tuple[aggregation.State, Any]:
        """What one of several requests for the kinds found, as the real controller makes them."""
        for _ in range(ATTEMPTS):
            found = await self._discover(stored)
            if found[0] == aggregation.PASSED:
                break
        return found

    async def _discover(self, stored: Stored) -> tuple[aggregation.State, Any]:
        """The state after a request for the kinds, and what it found."""
        spec, url = stored.manifest["spec"], ""
        try:
            unverified = {**spec, "insecureSkipTLSVerify": True}  # as the real controller: it verifies for users alone
            base, options = way_to({"spec": unverified}, CHECKER, {"Accept": "application/json"}, self._world)
            url = f"{base}/apis/{spec['group']}/{spec['version']}"
            async with (
                asyncio.timeout(CHECK_SECONDS),
                aiohttp.ClientSession(connector=calling.connector()) as session,
                session.get(url, **options) as answer,
            ):
                if answer.status not in range(200, 300):
                    why = f"failing or missing response from {url}: bad status from {url}: {answer.status}"
                    return ("False", "FailedDiscoveryCheck", why), None
                return aggregation.PASSED, await answer.json(content_type=None)
        except calling.Unreachable as error:
            return ("False", "FailedDiscoveryCheck", str(error)), None
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            address = aggregation.address_of(stored.manifest)
            cause = calling.describe_error(error, address) if str(error) else "deadline exceeded"
            why = f'failing or missing response from {url}: Get "{url}": {cause}'
            return ("False", "FailedDiscoveryCheck", why), None
