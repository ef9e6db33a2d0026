"""An API server that lists the synthetic objects of a large cluster, page by page, and has nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import orjson
from aiohttp import web

from shared import names
from shared.api.manifest import Manifest

COPIES = "clusterserviceversions"


@dataclass(frozen=True)
class Cluster:
    """Namespaces that all have as many objects of each kind, by its plural; the versions are copies."""

    namespaces: int
    in_each: Mapping[str, int]
    version_bytes: int

    def __len__(self) -> int:
        return self.namespaces * sum(self.in_each.values())

    def page(self, plural: str, first: int, limit: int, *, is_ours_alone: bool) -> tuple[list[Manifest], int]:
        """Objects of a kind, and where the next page begins (0: nowhere); nothing has the label of ours."""
        each = 0 if is_ours_alone else self.in_each.get(plural, 0)
        end = min(first + limit, each * self.namespaces)
        return list(self._objects(plural, each, first, end)), end if end < each * self.namespaces else 0

    def _objects(self, plural: str, each: int, first: int, end: int) -> Iterator[Manifest]:
        for number in range(first, end):
            namespace = f"namespace-{number // each}"
            meta: Manifest = {
                "name": namespace if plural == "namespaces" else f"{plural}-{number % each}.v1.0.0",
                "uid": f"{plural[:8]:0<8}-0000-0000-0000-{number:012}",
                "resourceVersion": str(1_000_000 + number),
                **({} if plural == "namespaces" else {"namespace": namespace}),
            }
            if plural == COPIES:
                meta |= {
                    "labels": {names.COPIED_FROM: "operators"},
                    "annotations": {names.OPERATOR_NAMESPACE: "operators"},
                }
                whole = {
                    "spec": {"description": "x" * self.version_bytes},
                    "status": {"phase": "Succeeded", "reason": "Copied"},
                }
                yield {"metadata": meta, **whole}
            else:
                yield {"metadata": meta}


@asynccontextmanager
async def serving(cluster: Cluster) -> AsyncIterator[str]:
    """The address of its API server."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if "watch" in request.query:
            response = web.StreamResponse()
            await response.prepare(request)
            await asyncio.Event().wait()
            return response
        if "limit" not in request.query:  # whether it answers at all, while others take its time
            return web.json_response({})
        first, limit = int(request.query.get("continue") or 0), int(request.query["limit"])
        plural, is_ours_alone = request.path.rpartition("/")[2], "labelSelector" in request.query
        items, following = cluster.page(plural, first, limit, is_ours_alone=is_ours_alone)
        meta = {"resourceVersion": "2000000", "continue": str(following or "")}
        return web.Response(body=orjson.dumps({"items": items, "metadata": meta}), content_type="application/json")

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
