"""A watch of PackageManifests tells every change, and lasts no longer than its time or its client."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from eventing.packages import watching
from eventing.packages.catalog_follower import NO_ICON
from eventing.packages.package_cache import PackageCache
from eventing.packages.sending import send
from eventing.packages.watching import Watching, follow
from shared.domain.serving.package_list import Listed

CATALOG = ("olm", "catalog")


def listed(name: str, size: int = 2) -> Listed:
    return Listed("catalog", "olm", {"name": name, "labels": {}}, b'"' + b"x" * size + b'"', "Catalog", NO_ICON)


def serving(cache: PackageCache, ended: asyncio.Event) -> TestServer:
    async def answer(request: web.Request) -> web.StreamResponse:
        try:
            return await follow(request, cache, Watching("olm", "olm", lambda _: True, is_table=False))
        finally:
            ended.set()

    app = web.Application()
    app.router.add_get("/", answer)
    return TestServer(app)


async def test_what_changes_during_a_write_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = PackageCache()
    version, more = cache.version, [["a", "b"]]
    cache.replace(CATALOG, [listed("a")])

    async def slow(*words: Any) -> None:
        await send(*words)
        if more:
            cache.replace(CATALOG, map(listed, more.pop()))

    monkeypatch.setattr(watching, "send", slow)
    async with TestClient(serving(cache, asyncio.Event())) as client:
        answer = await client.get(f"/?resourceVersion={version}")
        names = [json.loads(await answer.content.readline())["object"]["metadata"]["name"] for _ in range(2)]
        cache.replace(CATALOG, map(listed, "abx"))
        names.append(json.loads(await answer.content.readline())["object"]["metadata"]["name"])
        answer.close()
    assert names == ["a", "b", "x"]


@pytest.mark.parametrize(
    "version", ["abc", "٣", "9" * 5000, "-1"], ids=["a word", "foreign digits", "thousands", "less"]
)
async def test_a_version_that_was_never_counted_has_expired(version: str) -> None:
    async with TestClient(serving(PackageCache(), asyncio.Event())) as client:
        answer = await client.get("/", params={"resourceVersion": version, "timeoutSeconds": "9" * 99})
        reported = json.loads(await answer.content.readline())
        assert (reported["type"], reported["object"]["code"]) == ("ERROR", 410)


async def test_a_client_that_does_not_read_is_let_go_when_its_time_is_over() -> None:
    cache, ended = PackageCache(), asyncio.Event()
    cache.replace(CATALOG, [listed(f"package-{number}", 1_000_000) for number in range(40)])
    async with TestClient(serving(cache, ended)) as client:
        answer = await client.get("/?timeoutSeconds=1")
        await asyncio.wait_for(ended.wait(), 60)
        answer.close()


async def test_a_client_that_left_is_noticed_without_bookmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_RENEW_SECONDS", 0.05)
    cache, ended = PackageCache(), asyncio.Event()
    cache.replace(CATALOG, [listed("a")])
    async with TestClient(serving(cache, ended)) as client:
        answer = await client.get("/")
        await answer.content.readline()
        answer.close()
        await asyncio.wait_for(ended.wait(), 60)
