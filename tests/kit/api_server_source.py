"""Tells an endpoint of changes as Knative's ApiServerSource does (DESIGN §4), which is not of our making.

Binary mode, random ids, `…ref.*` or `…resource.*`; an empty `ce-namespace` and `/namespaces//` in the subject for what
has no namespace, `/apis/v1` for the core group, an extra `kn-namespace` header; nothing about what existed before.
An answer with a body is a refusal, whatever its status: to Knative's broker it is one.
"""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal

import aiohttp
import orjson

from shared.adapters.kube import Connection, connect, path_of
from shared.api.manifest import Manifest
from shared.kinds import Kind

VERBS = {"ADDED": "add", "MODIFIED": "update", "DELETED": "delete"}
Mode = Literal["ref", "resource"]


def request_of(change: str, manifest: Manifest, plural: str, source: str, mode: Mode) -> tuple[dict[str, str], bytes]:
    """Headers and body for one line of a watch."""
    meta = manifest["metadata"]
    namespace = meta.get("namespace", "")
    identity = {"kind": manifest["kind"], "name": meta["name"], "apiVersion": manifest["apiVersion"]}
    headers = {
        "ce-specversion": "1.0",
        "ce-id": str(uuid.uuid4()),
        "ce-source": source,
        "ce-type": f"dev.knative.apiserver.{mode}.{VERBS[change]}",
        "ce-subject": f"/apis/{manifest['apiVersion']}/namespaces/{namespace}/{plural}/{meta['name']}",
        **{f"ce-{key.lower()}": value for key, value in {**identity, "namespace": namespace}.items()},
        "kn-namespace": namespace,
        "content-type": "application/json",
    }
    return headers, orjson.dumps({**identity, "namespace": namespace} if mode == "ref" else manifest)


class ApiServerSource:
    """One watch per kind; each change is posted before the next one of that kind is looked at."""

    def __init__(self, connection: Connection, endpoint: str, mode: Mode, token: str) -> None:
        self._connection, self._endpoint, self._mode = connection, endpoint, mode
        self._token = {"Authorization": f"Bearer {token}"}
        self._session: aiohttp.ClientSession
        self.sent: list[dict[str, str]] = []
        """The headers of everything that was posted and taken."""
        self.refused: list[str] = []
        """What the endpoint said to what it did not take."""

    async def run(self, kinds: Sequence[Kind], started: threading.Event) -> None:
        """Post until cancelled; `started` is set when every kind is watched."""
        session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        async with session as self._session, AsyncExitStack() as opened:
            watches = [await self._changes(kind, opened) for kind in kinds]
            started.set()
            async with asyncio.TaskGroup() as tasks:
                for kind, watch in zip(kinds, watches, strict=True):
                    tasks.create_task(self._report(kind, watch))

    async def _changes(self, kind: Kind, opened: AsyncExitStack) -> AsyncIterator[Any]:
        """The lines of a watch that begins now; accepted by the server when this returns."""
        async with self._get(kind) as listed:
            version = (await listed.json())["metadata"]["resourceVersion"]
        response = await opened.enter_async_context(self._get(kind, watch="true", resourceVersion=version))
        assert response.status == 200, await response.text()

        async def lines() -> AsyncIterator[Any]:
            while line := await response.content.readline():
                yield orjson.loads(line)

        return lines()

    async def _report(self, kind: Kind, watch: AsyncIterator[Any]) -> None:
        async for line in watch:
            source = self._connection.origin
            headers, body = request_of(line["type"], line["object"], kind.plural, source, self._mode)
            async with self._session.post(self._endpoint, data=body, headers=headers | self._token) as answer:
                text = await answer.text()
                if answer.status < 300 and not text:
                    self.sent.append(headers)
                else:
                    self.refused.append(f"{answer.status} {text}: {headers}")

    def _get(self, kind: Kind, **query: str) -> Any:
        return self._session.get(
            self._connection.server + path_of(kind),
            params=query,
            headers={"Authorization": self._connection.authorization()},
            ssl=self._connection.tls or True,
            timeout=aiohttp.ClientTimeout(total=None),
            read_bufsize=2**24,
        )


@contextmanager
def api_server_source(
    kubeconfig: Path, endpoint: str, kinds: Sequence[Kind], mode: Mode, token: str
) -> Iterator[ApiServerSource]:
    """A source that runs in a thread until the end of the block; it sends the token, as with Knative's OIDC."""
    source, started, loop = (
        ApiServerSource(connect(str(kubeconfig)), endpoint, mode, token),
        threading.Event(),
        asyncio.new_event_loop(),
    )
    task = loop.create_task(source.run(kinds, started))

    def run() -> None:
        try:
            loop.run_until_complete(task)
        except asyncio.CancelledError:
            pass
        finally:
            loop.close()

    thread = threading.Thread(target=run, name="api-server-source")
    thread.start()
    try:
        assert started.wait(30), "the watches did not begin"
        yield source
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
