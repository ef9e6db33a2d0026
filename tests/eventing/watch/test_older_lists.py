"""An older list is believed only when the API server certainly has an older state."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from eventing.watch.older_lists import Judge, Restored
from shared.adapters.kube.freshness import RESTORED_SECONDS
from shared.kinds import OPERATOR_GROUP, SUBSCRIPTION
from tests.eventing.watch.scripted_api import Lines, Listed, Refused, Script, an_api
from tests.eventing.watch.test_watcher import A, Sink, an_object, until, watching
from tests.kit.waiting import PATIENCE_SECONDS

B = an_object("b", 5)
STEP = RESTORED_SECONDS / 4


class World:
    """Objects that were seen, and what the API server says of them now; stands for what a judge asks."""

    def __init__(self, **now: str) -> None:
        self.seconds = 0.0
        self.restored = Restored(lambda: self.seconds)
        self.now: Mapping[str, str] = now

    def newest(self, most: int) -> list[tuple[tuple[str, str], str]]:
        return [(("olm", "c"), "9"), (("olm", "b"), "8"), (("olm", "a"), "2")][:most]

    @property
    def has_any(self) -> bool:
        return True

    async def version_of(self, namespace: str, name: str) -> str:
        assert name != "a", "it had not changed since, so it proves nothing"
        return self.now.get(name, "")

    async def results(self, count: int = 6) -> list[bool]:
        """Of a list of version 3, asked for again and again."""
        judge, found = Judge(self, self.version_of, self.restored), []
        for _ in range(count):
            found.append(await judge.believes("3"))
            self.seconds += STEP
        return found


@pytest.mark.parametrize(
    ("now", "want"),
    [
        pytest.param({"c": "9"}, [False] * 6, id="an object is there in its later version: never"),
        pytest.param({"b": "8"}, [False] * 6, id="one of the last is: never"),
        pytest.param({"c": "11"}, [False] * 6, id="it changed since: never"),
        pytest.param({"c": "1"}, [True] * 6, id="it has an older version: at once"),
        pytest.param({"b": "3"}, [True] * 6, id="one of the last has: at once"),
        pytest.param({}, [False] * 5 + [True], id="all of them are gone: after a minute"),
    ],
)
async def test_what_became_of_the_objects_that_changed_last(now: Mapping[str, str], want: list[bool]) -> None:
    assert await World(**now).results() == want


async def test_a_proof_holds_for_the_other_kinds() -> None:
    world = World(c="1")
    await world.results(1)
    world.now = {}
    assert await world.results(1) == [True]
    world.seconds += RESTORED_SECONDS
    assert await world.results(1) == [False]


async def test_lists_that_are_well_in_between_have_not_lasted() -> None:
    world = World()
    judge = Judge(world, world.version_of, world.restored)
    for _ in range(8):
        assert not await judge.believes("3")
        world.seconds += STEP
        judge.refuted()


@pytest.mark.parametrize("kind", [SUBSCRIPTION, OPERATOR_GROUP], ids=lambda kind: str(kind.kind))
async def test_a_watch_that_gets_empty_old_lists_for_a_while_reports_nothing(kind: object) -> None:
    old = [Listed([], "3")] * 3
    async with an_api(Listed([A, B], "5"), Refused(410, "Expired"), *old, Listed([A, B], "6"), Lines()) as (
        api,
        server,
    ):
        api.objects, sink = {"b": "5"}, Sink()
        async with watching(server, sink, kind):  # type: ignore[arg-type]  # a kind
            await asyncio.wait_for(api.is_over.wait(), PATIENCE_SECONDS)
            await until(sink, 2)
    assert not [event for event in sink.ids if event.endswith(".delete")]


@pytest.mark.parametrize(("has_discovery", "deletions"), [(True, 1), (False, 0)], ids=["unserved", "a proxy erred"])
async def test_a_kind_that_is_not_found_is_gone_only_if_discovery_reports_it(
    has_discovery: bool, deletions: int
) -> None:
    script: Script = [Listed([A], "5"), Refused(410, "Expired"), Refused(404, ""), Listed([B], "6"), Lines()]
    async with an_api(*script) as (api, server):
        api.has_discovery, sink = has_discovery, Sink()
        async with watching(server, sink):
            await asyncio.wait_for(api.is_over.wait(), PATIENCE_SECONDS)
            await until(sink, 3)
    before = sink.ids[: sink.ids.index("uid-b.5.add")]
    assert len([event for event in before if event.endswith(".delete")]) == deletions


GROUP, VERSION = "operators.coreos.com", "operators.coreos.com/v1alpha1"
KINDS = [{"name": "catalogsources", "kind": "CatalogSource", "namespaced": True}]


def _groups(*groups: object) -> Mapping[str, object]:
    return {"/apis": {"kind": "APIGroupList", "groups": list(groups)}}


@pytest.mark.parametrize(
    ("discovery", "deletions"),
    [
        pytest.param({VERSION: {}}, 0, id="an empty object"),
        pytest.param({VERSION: []}, 0, id="an empty list"),
        pytest.param({VERSION: {"kind": "APIResourceList", "resources": None}}, 0, id="no resources"),
        pytest.param({VERSION: {"kind": "Status", "resources": KINDS}}, 0, id="no list of kinds"),
        pytest.param({VERSION: {"kind": "APIResourceList", "resources": KINDS}}, 1, id="other kinds"),
        pytest.param({"/apis": []}, 0, id="groups: a list"),
        pytest.param(_groups({"name": GROUP}), 0, id="a group without versions"),
        pytest.param(_groups({"name": GROUP, "versions": None}), 0, id="a group whose versions are null"),
        pytest.param(_groups({"name": GROUP, "versions": [None]}), 0, id="a version that is null"),
        pytest.param(_groups("x"), 0, id="a group that is a text"),
        pytest.param(_groups({"versions": [{"groupVersion": VERSION}]}), 0, id="its version"),
        pytest.param(_groups({"versions": [{"groupVersion": "apps/v1"}]}), 1, id="other versions"),
    ],
)
async def test_only_discovery_that_can_be_read_says_that_a_kind_is_not_served(
    discovery: Mapping[str, object], deletions: int
) -> None:
    script: Script = [Listed([A], "5"), Refused(410, "Expired"), Refused(404, ""), Listed([B], "6"), Lines()]
    async with an_api(*script) as (api, server):
        api.discovery, sink = discovery, Sink()
        async with watching(server, sink):
            await until(sink, 3)
    before = sink.ids[: sink.ids.index("uid-b.5.add")]
    assert len([event for event in before if event.endswith(".delete")]) == deletions


async def test_objects_whose_versions_have_no_order_are_not_lost_to_a_proxy_that_errs() -> None:
    opaque = {"metadata": {**A["metadata"], "resourceVersion": "v-1"}}
    script: Script = [Listed([opaque], "p"), Refused(410, "Expired"), Refused(404, ""), Listed([opaque, B], "q")]
    async with an_api(*script, Lines()) as (api, server):
        api.has_discovery, sink = False, Sink()
        async with watching(server, sink):
            await until(sink, 2)
    assert sink.ids == ["uid-a.v-1.add", "uid-b.5.add"]


@pytest.mark.parametrize("answer", ["{}", "[]", "null"])
async def test_an_answer_that_is_no_list_is_asked_for_again(answer: str) -> None:
    script: Script = [Lines([("", answer.encode())], "ends"), Listed([A], "5"), Lines()]
    async with an_api(*script) as (_, server):
        sink = Sink()
        async with watching(server, sink):
            await until(sink, 1)
    assert sink.ids == ["uid-a.1.add"]


async def test_a_watch_on_a_server_that_was_restored_reports_what_is_gone() -> None:
    async with an_api(Listed([A, B], "5"), Refused(410, "Expired"), Listed([A], "3"), Lines()) as (api, server):
        api.objects, sink = {"b": "2"}, Sink()
        async with watching(server, sink):
            await until(sink, 3)
    assert sink.ids == ["uid-a.1.add", "uid-b.5.add", "uid-b.5.delete"]
