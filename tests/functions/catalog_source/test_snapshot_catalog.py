"""Reading catalog images: what is recorded, told and tried again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from eventing.events.job import Job
from functions.catalog_source.check_catalog import check_catalog
from functions.catalog_source.snapshot_catalog import snapshot_catalog
from shared import kinds, names
from shared.api.views import CatalogSource
from shared.domain.catalog_source import is_healthy
from shared.errors import RetryLater
from shared.ports import Attempt, Policy, Unavailable
from shared.step import NOTHING, Emit, Outcome, SetStatus
from tests.functions.subscription.world import World, a_catalog_source, a_package

REF = kinds.CATALOG_SOURCE.ref("local", "olm")


def a_world(**spec: Any) -> World:
    world = World(a_catalog_source(**spec))
    world.catalogs.publish("registry/local:v1", a_package("etcd", "1.0.0"))
    return world


def connecting() -> World:
    """The world after the status says that the catalog is read."""
    world = a_world()
    world.run(Job("catalog_source/check_catalog", REF))
    return world


def read(world: World) -> Outcome:
    """What the step decides that reads the image."""
    return snapshot_catalog(REF, world, world.catalogs, world, attempt=Attempt())


def checked(world: World) -> Outcome:
    """What the step decides that says at once what follows from the spec."""
    return check_catalog(REF, world, world, world, policy=Policy(), attempt=Attempt())


def test_nothing_is_read_before_the_status_reports_it() -> None:
    world = a_world()
    assert read(world) == Outcome(again_in=timedelta(seconds=2)), "in case nobody tells of the status"
    [write] = checked(world).writes
    assert isinstance(write, SetStatus)
    assert write.resource_version == world.objects[REF]["metadata"]["resourceVersion"], "a late one overwrites nothing"


def test_the_state_of_a_catalog_is_written_once_and_never_over_an_answer() -> None:
    """A late or repeated run decides from what the object says."""
    world = connecting()
    assert checked(world) == NOTHING, "it says so already"
    world.settle()
    assert world.objects[REF]["status"]["connectionState"]["lastObservedState"] == "READY"
    assert checked(world) == NOTHING
    world.catalogs.trouble = Unavailable("NotFound", "no such image")
    world.run(Job("catalog_source/snapshot_catalog", REF, "long"))
    assert world.objects[REF]["status"]["connectionState"]["lastObservedState"] == "TRANSIENT_FAILURE"
    assert checked(world) == NOTHING


def test_a_catalog_that_is_read_for_the_first_time_reports_it_once() -> None:
    """catalog.md 2.9.1: as in OLM, whose state is CONNECTING until the registry answers."""
    world = connecting()
    status = world.objects[REF]["status"]
    assert status["connectionState"] == {"lastObservedState": "CONNECTING", "lastConnect": "2026-01-01T00:00:00Z"}
    assert (world.emitted, is_healthy(CatalogSource(world.objects[REF]))) == ([], False), "nobody can use it yet"
    world.settle()
    assert world.objects[REF]["status"]["connectionState"]["lastObservedState"] == "READY"
    world.catalogs.publish("registry/local:v1", a_package("etcd", "1.0.0", "2.0.0"))
    outcome = read(world)
    [write] = outcome.writes
    assert isinstance(write, SetStatus)
    assert write.status["connectionState"]["lastObservedState"] == "READY", "what was read is in use meanwhile"


def test_the_digest_is_recorded_and_the_users_are_reported() -> None:
    world = connecting()
    outcome = read(world)
    [write] = outcome.writes
    assert isinstance(write, SetStatus)
    assert CatalogSource({"status": write.status}).content == world.catalogs.reference("registry/local:v1")
    assert outcome.emits == (Emit(names.CATALOG_SNAPSHOTTED, REF),)
    assert outcome.again_in is None, "no polling unless asked"


def test_the_same_digest_again_is_silent() -> None:
    world = a_world(updateStrategy={"registryPoll": {"interval": "1m"}})
    world.settle()
    outcome = read(world)
    assert (outcome.writes, outcome.emits, outcome.again_in) == ((), (), timedelta(minutes=1))


def test_a_deleted_catalog_is_nothing_to_do() -> None:
    world = World()
    assert read(world) == NOTHING


def test_a_pull_that_was_ended_is_reported_before_the_next_one() -> None:
    world = a_world()
    ended = Attempt(2, ended="ended after 600 s: its time limit")
    outcome = snapshot_catalog(REF, world, world.catalogs, world, attempt=ended)
    [write] = outcome.writes
    assert isinstance(write, SetStatus)
    assert write.status["message"] == ("couldn't connect to registry - the pull was ended after 600 s: its time limit")
    assert outcome.emits == (Emit(names.CATALOG_SNAPSHOTTED, REF),)
    assert outcome.again_in == timedelta(seconds=15)
    world.put({**world.objects[REF], "status": write.status})
    with pytest.raises(RetryLater, match="ended after 600 s"):
        snapshot_catalog(REF, world, world.catalogs, world, attempt=ended)


def test_a_first_failure_is_reported_and_the_following_ones_back_off() -> None:
    world = connecting()
    world.catalogs.trouble = Unavailable("Unauthorized", "401: no credentials for registry")
    outcome = read(world)
    assert outcome.emits == (Emit(names.CATALOG_SNAPSHOTTED, REF),)
    assert outcome.again_in is not None
    world.settle()
    with pytest.raises(RetryLater, match="no credentials") as error:
        read(world)
    assert error.value.writes == ()
    assert error.value.wait is not None


def test_an_invalid_spec_is_reported_once_and_not_tried_again() -> None:
    """catalog.md 8.1.1: reason and message, no error returned."""
    world = a_world(sourceType="nope")
    world.settle()
    assert world.objects[REF]["status"]["reason"] == "SpecInvalidError"
    assert world.objects[REF]["status"]["message"] == "unknown sourcetype: nope"
    for outcome in (checked(world), read(world)):
        assert (outcome.writes, outcome.emits, outcome.again_in) == ((), (), None)


def test_what_the_catalog_leaves_out_is_reported_while_it_is_served() -> None:
    world = a_world()
    world.catalogs.left_out = ("/bundles/tide/1.0.0: no version; add one", "/bundles/tide/2.0.0: none either")
    world.settle()
    status = world.objects[REF]["status"]
    assert (status["reason"], status["connectionState"]["lastObservedState"]) == ("ContentLeftOut", "READY")
    assert status["message"] == (
        "wrong in the catalog: /bundles/tide/1.0.0: no version; add one | /bundles/tide/2.0.0: none either"
    )
    assert is_healthy(CatalogSource(world.objects[REF]))
    world.catalogs.left_out = ()
    world.run(Job("catalog_source/snapshot_catalog", REF))
    assert "message" not in world.objects[REF]["status"]


def test_a_pull_that_took_too_long_is_reported_and_tried_when_that_makes_sense() -> None:
    world = connecting()
    slow = "quay.io is too slow: less than 1 kB in 10 s; the host is asked again after 60 s"
    world.catalogs.trouble = Unavailable("TimedOut", slow, timedelta(seconds=60))
    outcome = read(world)
    [write] = outcome.writes
    assert isinstance(write, SetStatus)
    assert write.status["reason"] == "RegistryServerError"
    assert write.status["message"] == f"couldn't connect to registry - {slow}"
    assert write.status["connectionState"]["lastObservedState"] == "TRANSIENT_FAILURE"
    assert outcome.again_in == timedelta(seconds=60)
    assert outcome.wait is not None
    assert outcome.wait.next_try == world.now() + timedelta(seconds=60)
    world.settle()
    with pytest.raises(RetryLater, match="too slow") as error:
        read(world)
    assert error.value.after == timedelta(seconds=60)


def test_a_password_in_an_image_is_not_repeated() -> None:
    world = a_world(image="me:s3cret@quay.io/a:1")
    world.catalogs.trouble = Unavailable("Malformed", "it is no image reference")
    outcome = read(world)
    assert "s3cret" not in repr(outcome)
