"""One catalog that cannot be read holds up no other, is tried again once, and ends nothing."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from eventing.packages import catalog_follower
from eventing.packages.catalog_follower import CatalogFollower
from eventing.packages.package_cache import PackageCache
from shared.adapters.content.anywhere import snapshot_at
from shared.adapters.content.snapshot import Snapshot
from shared.adapters.content.store import Store
from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest
from shared.domain.image_source import ImageSource
from shared.ports import Unavailable
from tests.eventing.packages.test_program import a_catalog
from tests.kit.catalogs import read_status


def a_source(name: str, address: str, namespace: str = "olm") -> Manifest:
    meta = {"name": name, "namespace": namespace, "uid": name}
    return {"metadata": meta, "spec": {"image": "x"}, "status": read_status(address)}


@asynccontextmanager
async def following(folder: Path, trouble: Callable[[str], Unavailable | None]) -> AsyncIterator[CatalogFollower]:
    """A follower of catalogs of one package each, whose name is the address; `trouble` says what cannot be read."""
    store = Store(folder / "store")

    def open_(reference: str, _: ImageSource) -> Snapshot | Unavailable:
        if found := trouble(reference):
            return found
        place = folder / reference
        place.mkdir(exist_ok=True)
        (place / "catalog.json").write_text("\n".join(map(json.dumps, a_catalog(reference))))
        return snapshot_at(str(place), store)

    follower, is_listed = CatalogFollower(PackageCache(), open_, "olm"), asyncio.Event()
    is_listed.set()
    running = asyncio.create_task(follower.run(is_listed))
    try:
        yield follower
    finally:
        running.cancel()
        await asyncio.wait([running])


async def report(follower: CatalogFollower, *sources: Manifest) -> None:
    for one in sources:
        await follower.deliver(follower.observe("MODIFIED", one))


async def until(ask: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not ask():
            await asyncio.sleep(0.01)


def names(follower: CatalogFollower) -> list[str]:
    return [one.name for one in follower._cache.packages()]


async def test_an_error_of_one_catalog_ends_nothing(tmp_path: Path) -> None:
    def fails(address: str) -> None:
        if address == "bad":
            raise ApiError(503, "ServiceUnavailable", "the API server is away")

    async with following(tmp_path, fails) as follower:
        await report(follower, a_source("broken", "bad"), a_source("fine", "tea"))
        await until(lambda: names(follower) == ["tea"])


async def test_a_slow_registry_holds_up_its_own_catalog(tmp_path: Path) -> None:
    answered = threading.Event()

    def waits(address: str) -> None:
        if address == "slow":
            answered.wait(60)

    async with following(tmp_path, waits) as follower:
        await report(follower, a_source("far", "slow"), a_source("near", "tea"))
        await until(lambda: names(follower) == ["tea"])
        answered.set()
        await until(lambda: names(follower) == ["slow", "tea"])


async def test_slow_registries_of_one_namespace_hold_up_no_other_and_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a tenant whose registry is slow on purpose keeps the server from being ready, and the API from everybody."""
    answered = threading.Event()

    def waits(address: str) -> None:
        if address.startswith("slow"):
            answered.wait(60)

    monkeypatch.setattr(catalog_follower, "FILL_SECONDS", 0.05)
    async with following(tmp_path, waits) as follower:
        slow = [a_source(f"far-{at}", f"slow-{at}", "mallory") for at in range(catalog_follower.READERS + 1)]
        await report(follower, *slow, a_source("near", "tea"), a_source("own", "cup", "neighbour"))
        await until(lambda: names(follower) == ["cup", "tea"])
        await until(follower.filled.is_set)
        answered.set()
        await until(lambda: len(names(follower)) == len(slow) + 2)
        assert not follower._due


async def test_catalogs_of_one_namespace_leave_room_for_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with following(tmp_path, lambda _: None) as follower:
        await report(follower, a_source("first", "tea", "mallory"))
        await until(lambda: names(follower) == ["tea"])
        monkeypatch.setattr(catalog_follower, "MOST_OF_ONE", 2 * follower._cache.packages()[0].size - 1)
        await report(follower, a_source("second", "cup", "mallory"))
        await until(lambda: bool(follower._failed))
        await report(follower, a_source("own", "pot", "neighbour"))
        await until(lambda: names(follower) == ["pot", "tea"])
        monkeypatch.setattr(catalog_follower, "MOST_BYTES", 2 * sum(one.size for one in follower._cache.packages()))
        await report(follower, a_source("more", "jar", "third"), a_source("global", "mug"))
        await until(lambda: names(follower) == ["mug", "pot", "tea"])
        await until(lambda: ("third", "more") in follower._failed)


async def test_events_of_a_catalog_that_failed_do_not_multiply_its_tries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: Counter[str] = Counter()

    def away(address: str) -> Unavailable | None:
        tries[address] += 1
        return Unavailable("Unreachable", "the registry is away") if address == "bad" and tries[address] < 3 else None

    monkeypatch.setattr(catalog_follower, "RETRY_SECONDS", 0.2)
    async with following(tmp_path, away) as follower:
        for turn in range(50):
            await report(follower, a_source("broken", "bad"), a_source(f"fine-{turn}", f"package-{turn}"))
        await until(lambda: "bad" in names(follower) and len(names(follower)) == 51)
        assert tries["bad"] == 3


async def test_what_does_not_fit_beside_the_others_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with following(tmp_path, lambda _: None) as follower:
        await report(follower, a_source("first", "tea"))
        await until(lambda: names(follower) == ["tea"])
        monkeypatch.setattr(catalog_follower, "MOST_BYTES", sum(one.size for one in follower._cache.packages()))
        await report(follower, a_source("second", "cup"))
        await until(lambda: bool(follower._failed))
        assert names(follower) == ["tea"]
