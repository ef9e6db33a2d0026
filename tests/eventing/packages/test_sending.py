"""Long lists are made while they are sent, so that what a client has not read yet takes no memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime

import orjson
import pytest
from aiohttp import ClientError, web
from aiohttp.test_utils import TestClient, TestServer

from eventing.packages import sending
from eventing.packages.catalog_follower import NO_ICON
from eventing.packages.documents import listing, table
from shared.domain.serving.package_list import Listed

PART = b"x" * 32_768
MANY = 5_000


def listed(name: str) -> Listed:
    return Listed("catalog", "olm", {"name": name, "labels": {}}, b'{"a":1}', "Catalog", NO_ICON)


@pytest.mark.parametrize("names", [[], ["a"], ["a", "b", "c"]])
def test_the_parts_of_a_list_are_one_document(names: list[str]) -> None:
    found = [listed(name) for name in names]
    whole = orjson.loads(b"".join(listing(found, "ns", "7")))
    assert ([one["metadata"]["name"] for one in whole["items"]], whole["kind"]) == (names, "PackageManifestList")
    shown = orjson.loads(b"".join(table(found, "ns", "7", now=datetime(2026, 1, 1, tzinfo=UTC))))
    assert ([one["cells"][0] for one in shown["rows"]], shown["metadata"]) == (names, {"resourceVersion": "7"})


async def test_a_client_that_does_not_read_holds_up_what_it_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """And is cut off after a while; another one is answered meanwhile."""
    monkeypatch.setattr(sending, "_SEND_SECONDS", 0.5)
    made: list[int] = []

    def parts(most: int) -> Iterator[bytes]:
        for number in range(most):
            made.append(number)
            yield PART

    async def answer(request: web.Request) -> web.StreamResponse:
        return await sending.sent(request, parts(int(request.query["most"])))

    app = web.Application()
    app.router.add_get("/", answer)
    async with TestClient(TestServer(app), auto_decompress=False) as client:
        slow = await client.get(f"/?most={MANY}", headers={"Accept-Encoding": "identity"})
        await asyncio.sleep(0.1)
        assert 0 < len(made) < MANY / 4
        quick = await client.get("/?most=4", headers={"Accept-Encoding": "identity"})
        assert await quick.read() == PART * 4
        await asyncio.sleep(0.6)
        with pytest.raises(ClientError):
            await slow.read()
