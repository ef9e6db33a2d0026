"""Revisions of so many objects that they are read as lists."""

from __future__ import annotations

import pytest

from shared import names
from shared.api.manifest import labels_of
from shared.kinds import CONFIG_MAP
from tests.functions.cluster_extension.world import World, a_config_map
from tests.functions.cluster_object_set.test_revisions import PLACE, REF, a_set, a_world, held, reported

pytestmark = pytest.mark.unmeasured

COUNT = 60
NAMES = [f"settings-{number:02}" for number in range(COUNT)]
ONE = CONFIG_MAP.ref(NAMES[7], PLACE)


def a_large_set(owner: str = "set") -> World:
    phases = (held(*(a_config_map(name, PLACE, a="b") for name in some)) for some in (NAMES[:50], NAMES[50:]))
    return a_world(a_set(*phases, owner=owner))


@pytest.mark.parametrize("owner", ["set", ""], ids=["of an extension", "by hand"])
def test_many_objects_are_read_as_one_list(owner: str) -> None:
    world = a_large_set(owner)
    assert reported(world)[1] == "Succeeded"
    assert all(CONFIG_MAP.ref(name, PLACE) in world.objects for name in NAMES)
    world.requests.clear()
    world.receive(names.UPDATED, REF)
    world.settle()
    assert world.requests["write"] == 0
    assert world.requests["read"] < 10


def test_an_object_that_lost_the_label_of_its_revision_is_found() -> None:
    world = a_large_set()
    world.api.merge(ONE, {"metadata": {"labels": {names.V1_OWNER_NAME: None}}})
    world.settle()
    assert labels_of(world.objects[ONE])[names.V1_OWNER_NAME] == "set"
    assert reported(world)[1] == "Succeeded"


def test_what_is_there_already_is_a_collision_and_not_tried_again_and_again() -> None:
    world = World()
    world.objects.setdefault_namespace(PLACE)
    world.put(a_config_map(ONE.name, PLACE, mine="x"))
    world.put(a_set(held(*(a_config_map(name, PLACE, a="b") for name in NAMES[:10]))))
    world.settle()
    assert "revision object collisions" in reported(world)[2]
    assert world.objects[ONE]["data"] == {"mine": "x"}
    world.requests.clear()
    world.later(seconds=11)
    assert world.requests["write"] == 0
    world.remove(ONE)
    world.later(seconds=11)
    assert reported(world)[1] == "Succeeded"


def test_nothing_is_left_of_many_objects() -> None:
    world = a_large_set()
    world.jobs.clear()
    with world.edited(ONE) as found:
        del found["metadata"]["labels"][names.V1_OWNER_NAME]
    world.jobs.clear()  # nobody has noticed
    world.api.delete(REF)
    for _ in range(4):
        world.settle()
        world.later(seconds=6)
    assert not [ref for ref in world.objects if ref.kind == CONFIG_MAP.kind]
    assert REF not in world.objects
