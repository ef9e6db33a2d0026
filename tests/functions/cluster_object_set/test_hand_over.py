"""What runs under an older revision is taken over phase by phase, as a whole or not at all (v1.md §21.7, §21.8)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from eventing.effects import Effects
from functions.cluster_object_set.tear_down import tear_down
from shared.api.manifest import Manifest
from shared.kinds import CLUSTER_OBJECT_SET, CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, DEPLOYMENT, NAMESPACE, Ref
from shared.ports import Attempt
from tests.functions.cluster_extension.world import World, a_config_map
from tests.functions.cluster_object_set.test_revisions import FIRST, PLACE, REF, a_set, a_world, held, reported
from tests.functions.subscription.world import a_crd
from tests.kit.cluster import FakeCluster, FixedClock

pytestmark = pytest.mark.unmeasured

NEXT = CLUSTER_OBJECT_SET.ref("set-2")
VARIABLE = {"name": "FOO", "value": "x"}
VARIABLE_WITH_SOURCE = {"name": "FOO", "valueFrom": {"configMapKeyRef": {"name": "first", "key": "a"}}}


def a_deployment(name: str, *env: Manifest, namespace: str = PLACE) -> Manifest:
    labels = {"app": name}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "a", "env": list(env)}]}}
    return {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": {"matchLabels": labels}, "template": pod},
    }  # fmt: skip


def handed_over(before: Sequence[list[Manifest]], after: Sequence[list[Manifest]]) -> World:
    """A revision with phases that is rolled out, and the next one of its extension, as far as that comes."""
    world = a_world(a_set(*(held(*phase) for phase in before)))
    assert reported(world)[1] == "Succeeded"
    world.put(a_set(*(held(*phase) for phase in after), name=NEXT.name, number=2))
    world.settle()
    return world


def settings(count: int, value: str, start: int = 0) -> list[Manifest]:
    return [a_config_map(f"settings-{number:02}", PLACE, a=value) for number in range(start, start + count)]


def values(world: World) -> list[str]:
    return [one["data"]["a"] for ref, one in sorted(world.objects.items(), key=str) if ref.kind == CONFIG_MAP.kind]


def test_v1_md_21_7_a_trial_takes_out_the_fields_that_the_write_takes_out() -> None:
    """A variable has a value or a source of one, never both; so it is with the actions of probes and with volumes."""
    names = ("one", "two")
    before = [a_deployment(name, VARIABLE) for name in names]
    world = handed_over([before], [[a_deployment(name, VARIABLE_WITH_SOURCE) for name in names]])
    assert world.requests["try"] == len(names)
    assert reported(world, ref=NEXT)[1] == "Succeeded", reported(world, ref=NEXT)
    for name in names:
        template = world.objects[DEPLOYMENT.ref(name, PLACE)]["spec"]["template"]
        assert template["spec"]["containers"][0]["env"] == [VARIABLE_WITH_SOURCE]


@pytest.mark.measured
@pytest.mark.parametrize(
    ("first", "count"),
    [pytest.param(0, 49, id="more than one run writes"), pytest.param(20, 39, id="behind another phase")],
)
def test_v1_md_21_7_no_part_of_a_phase_is_written_before_all_of_it_was_tried(first: int, count: int) -> None:
    before = [settings(first, "1"), [*settings(count, "1", first), a_deployment("z", VARIABLE)]]
    after = [settings(first, "2"), [*settings(count, "2", first), a_deployment("z", VARIABLE | VARIABLE_WITH_SOURCE)]]
    world = handed_over(before[not first :], after[not first :])
    assert "phase" in reported(world, ref=NEXT)[2]
    assert "may not be specified when `value` is not empty" in reported(world, ref=NEXT)[2]
    assert values(world) == ["2"] * first + ["1"] * count


@pytest.mark.parametrize(("first", "count"), [(0, 50), (20, 40), (45, 5)])
def test_a_phase_of_many_objects_is_handed_over(first: int, count: int) -> None:
    phases = [[settings(first, value), settings(count, value, first)][not first :] for value in ("1", "2")]
    world = handed_over(*phases)
    assert reported(world, ref=NEXT)[1] == "Succeeded"
    assert values(world) == ["2"] * (first + count)


def test_v1_md_21_7_what_only_the_phase_makes_possible_is_not_tried() -> None:
    """So many objects that those of all kinds are packed together (§21.3)."""
    place, definition = NAMESPACE.ref("new"), CUSTOM_RESOURCE_DEFINITION.ref("gauges.sets.example.com")
    gauge = Ref("sets.example.com/v1", "Gauges", "one", PLACE)
    meta = {"name": gauge.name, "namespace": PLACE}
    after = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place.name}},
        a_crd(definition.name),
        a_config_map("inside", place.name, a="2"),
        {"apiVersion": gauge.api_version, "kind": gauge.kind, "metadata": meta},
        a_config_map("first", PLACE, a="2"),
    ]
    world = handed_over([[a_config_map("first", PLACE, a="1")]], [after])
    assert world.requests["try"]
    for _ in range(2):
        world.later(seconds=11)
    assert reported(world, ref=NEXT)[1] == "Succeeded", reported(world, ref=NEXT)
    assert {CONFIG_MAP.ref("inside", place.name), gauge, definition} <= set(world.objects)
    assert world.objects[FIRST]["data"] == {"a": "2"}


def test_v1_md_21_7_what_the_next_revision_took_meanwhile_is_not_deleted() -> None:
    world = a_world(a_set(held(a_config_map("first", PLACE, a="1"))))
    read = world.objects[REF]
    read["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    cluster = FakeCluster([read, world.objects[FIRST]])
    decided = tear_down(REF, cluster, cluster, FixedClock(), attempt=Attempt())
    world.put(a_set(held(a_config_map("first", PLACE, a="2")), name=NEXT.name, number=2))
    world.settle()
    assert reported(world, ref=NEXT)[1] == "Succeeded"
    done = Effects(world.api, world).perform(decided.writes, {}, lambda: True)
    assert done.failure is not None
    assert (done.failure.kind, done.failure.ref) == ("conflict", FIRST)
    assert world.objects[FIRST]["data"] == {"a": "2"}
