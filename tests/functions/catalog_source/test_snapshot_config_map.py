"""Reading the ConfigMap of a CatalogSource: owner, reference, and what is told."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from eventing.events.job import Job
from functions.catalog_source.snapshot_config_map import snapshot_config_map
from shared import kinds, names
from shared.api.manifest import Manifest
from shared.api.views import CatalogSource
from shared.ports import Attempt, Unavailable, WriteFailure
from shared.step import NOTHING, Outcome, SetStatus
from tests.functions.subscription.world import World, a_catalog_source, a_package

REF = kinds.CATALOG_SOURCE.ref("kitchen", "olm")
PLACE = kinds.CONFIG_MAP.ref("kitchen", "olm")


def a_source(**spec: Any) -> Manifest:
    return a_catalog_source("kitchen", sourceType="internal", configMap="kitchen", **spec)


def a_config_map(**meta: Any) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kitchen", "namespace": "olm", **meta}}


def a_world(*objects: Manifest) -> World:
    world = World(*objects)
    world.catalogs.publish("configmap://kitchen", a_package("etcd", "1.0.0"))
    return world


def run(world: World) -> Any:
    """The status after two runs: the first one may only write label and owner."""
    for _ in range(2):
        world.run(Job("catalog_source/snapshot_config_map", REF))
    return world.objects[REF]["status"]


def read(world: World, failure: WriteFailure | None = None) -> Outcome:
    return snapshot_config_map(REF, world, world.catalogs, world, attempt=Attempt(failure=failure))


@pytest.mark.parametrize("kind", ["internal", "configmap"])
def test_row_4_the_config_map_gets_its_owner_and_the_status_its_reference(kind: str) -> None:
    world = a_world(a_source() | {"spec": {"sourceType": kind, "configMap": "kitchen"}}, a_config_map())
    status, found = run(world), world.objects[PLACE]["metadata"]
    [owner] = found["ownerReferences"]
    assert (owner["uid"], owner["controller"], owner["blockOwnerDeletion"]) == (
        world.objects[REF]["metadata"]["uid"], False, False,
    )  # fmt: skip
    assert found["labels"] == {names.MANAGED: "true"}
    assert status["configMapReference"] == {
        "name": "kitchen", "namespace": "olm", "uid": found["uid"], "resourceVersion": found["resourceVersion"],
        "lastUpdateTime": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    assert status["connectionState"]["lastObservedState"] == "READY"
    assert world.emitted == [names.CATALOG_SNAPSHOTTED]
    assert read(world).writes == (), "nothing has changed"


def test_it_is_read_soon_after_it_got_its_owner_and_a_change_is_told_a_second_later_at_least() -> None:
    world = a_world(a_source(), a_config_map())
    assert read(world).again_in == timedelta(seconds=1), "the event of a step's own write does not run it again"
    run(world)
    world.put({**world.objects[PLACE], "data": {"packages": "[]"}})
    changed = run(world)
    told = (changed["configMapReference"]["lastUpdateTime"], changed["connectionState"]["lastConnect"])
    assert told == ("2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z"), "clients of OLM wait for a later second"


def test_two_catalogs_share_a_config_map() -> None:
    world = a_world(a_source(), a_config_map())
    run(world)
    other = a_catalog_source("other", sourceType="configmap", configMap="kitchen")
    world.put(other)
    world.run(Job("catalog_source/snapshot_config_map", kinds.CATALOG_SOURCE.ref("other", "olm")))
    owners = world.objects[PLACE]["metadata"]["ownerReferences"]
    assert [one["name"] for one in owners] == ["kitchen", "other"]


def test_row_15_another_content_is_another_reference() -> None:
    world = a_world(a_source(), a_config_map())
    before = run(world)
    world.put({**world.objects[PLACE], "data": {"packages": "[]"}})
    world.catalogs.publish("configmap://kitchen", a_package("etcd", "2.0.0"))
    after = run(world)
    assert after["configMapReference"]["uid"] == before["configMapReference"]["uid"]
    versions = [one["configMapReference"]["resourceVersion"] for one in (before, after)]
    contents = [CatalogSource({"status": one}).content for one in (before, after)]
    assert (len(set(versions)), len(set(contents))) == (2, 2)


def test_row_16_a_config_map_that_is_made_anew() -> None:
    world = a_world(a_source(), a_config_map())
    before = run(world)
    world.remove(PLACE)
    assert run(world)["reason"] == "ConfigMapError"
    world.put(a_config_map())
    after = run(world)
    assert after["configMapReference"]["uid"] != before["configMapReference"]["uid"]
    assert ("reason" in after, after["connectionState"]["lastObservedState"]) == (False, "READY")


@pytest.mark.parametrize("name", ["absent", ".."])
def test_row_6_and_13_a_config_map_that_is_not_there(name: str) -> None:
    world = a_world(a_source() | {"spec": {"sourceType": "internal", "configMap": name}})
    outcome = read(world)
    status = run(world)
    message = f'failed to get catalog config map {name}: configmaps "{name}" not found'
    assert (status["reason"], status["message"]) == ("ConfigMapError", message)
    assert outcome.again_in == timedelta(seconds=15)


def test_where_nobody_tells_of_it_it_is_looked_for_less_and_less_often() -> None:
    """On Knative nobody watches it by name; a catalog that is broken for good costs next to nothing."""
    world = a_world(a_source(), a_config_map())
    run(world)
    world.remove(PLACE)
    run(world)
    pauses = []
    for minutes in (0, 1, 60):
        world.time += timedelta(minutes=minutes)
        pauses.append(read(world).again_in)
    assert pauses == [timedelta(seconds=15), timedelta(minutes=1), timedelta(minutes=5)]


def test_what_was_read_stays_in_use_when_the_content_is_wrong() -> None:
    world = a_world(a_source(), a_config_map())
    good = run(world)
    world.catalogs.trouble = Unavailable("Malformed", "ConfigMap kitchen holds no catalog")
    status = run(world)
    assert CatalogSource({"status": status}).content == CatalogSource({"status": good}).content != ""
    assert "holds no catalog" in status["message"]


def test_trouble_that_passes_is_tried_again_and_content_waits_for_an_edit() -> None:
    world = a_world(a_source(), a_config_map())
    run(world)
    world.catalogs.trouble = Unavailable("Malformed", "no catalog")
    assert (read(world).again_in, read(world).wait) == (None, None)
    world.catalogs.trouble = Unavailable("TooLarge", "the store is full", timedelta(minutes=1))
    assert read(world).again_in == timedelta(minutes=1)
    assert run(world)["connectionState"]["lastObservedState"] == "TRANSIENT_FAILURE"
    unchanged = read(world)
    assert (unchanged.writes, unchanged.again_in) == ((), timedelta(minutes=1))
    assert unchanged.wait
    assert unchanged.wait.what == "the store is full"


def test_a_refused_owner_is_reported() -> None:
    outcome = read(a_world(a_source(), a_config_map()), WriteFailure("forbidden", "no", 0, PLACE))
    [write] = outcome.writes
    assert isinstance(write, SetStatus)
    assert (write.status["reason"], write.status["message"]) == (
        "ConfigMapError", "unable to write owner onto catalog source configmap - no",
    )  # fmt: skip
    assert outcome.again_in


@pytest.mark.parametrize(
    "objects", [(), (a_catalog_source("kitchen"),), (a_source() | {"spec": {"sourceType": "internal"}},)]
)
def test_nothing_to_read(objects: tuple[Manifest, ...]) -> None:
    assert read(a_world(*objects)) == NOTHING
