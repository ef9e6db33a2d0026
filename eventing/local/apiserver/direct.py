"""A sandbox for one client in its thread, without a server; the controllers have run when a write returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import unquote

import orjson
from multidict import CIMultiDict

from eventing.local.apiserver import authorization, discovery, dispatch
from eventing.local.apiserver.authentication import ADMIN
from eventing.local.apiserver.bootstrap import fill_empty
from eventing.local.apiserver.calls import parse
from eventing.local.apiserver.collector import Collector
from eventing.local.apiserver.failures import Failure, not_allowed
from eventing.local.apiserver.resources import Registry
from eventing.local.apiserver.store import Store
from eventing.local.apiserver.world import World
from shared.adapters.kube import Connection, KubeClient
from shared.adapters.kube.transport import Reply, Transport


def fresh_sandbox() -> KubeClient:
    """The client of a new sandbox, which lives as long as the client."""
    return KubeClient(Direct(World(Store(), Registry(), token="", secret=b"")))


class Direct(Transport):
    """Calls the same functions as the server; its user has all permissions, but cannot watch.

    Whom it impersonates has only his own.
    """

    is_remote = False

    def __init__(self, world: World) -> None:
        super().__init__(Connection("sandbox://here"))
        self._world = replace(world, asks_others=False)
        self._collector = Collector(self._world)
        fill_empty(self._world)
        self._collector.catch_up()

    def exchange(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], *, query: Mapping[str, str]
    ) -> Reply:
        """The reply, after the controllers have run."""
        try:
            return self._reply(method, unquote(path), body or b"", headers, query=query)
        except Failure as failure:
            return Reply(failure.code, orjson.dumps(failure.status))
        finally:
            self._collector.catch_up()

    def _reply(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str], *, query: Mapping[str, str]
    ) -> Reply:
        world = self._world
        if path == "/version":
            return Reply(200, orjson.dumps(discovery.version(world.version)))
        if (found := discovery.describe(path, world.registry, aggregated=False)) is not None:
            return Reply(200, orjson.dumps(found))
        user = authorization.impersonate(ADMIN, CIMultiDict(headers), world)
        call = parse(method, path, query, world.registry, user=user, agent=headers["User-Agent"], time=world.now())
        authorization.authorize(call, user, world)
        if call.verb == "watch" or (call.verb not in call.resource.verbs and not call.subresource):
            raise not_allowed()
        answer = dispatch.serve(call, world, body, headers["Content-Type"], accept=headers["Accept"])
        return Reply(answer.code, answer.body, tuple(call.warnings))
