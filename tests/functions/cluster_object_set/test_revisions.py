"""ClusterObjectSets that somebody applies by hand (v1.md §21, §26.9)."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

import pytest

from eventing.effects.written import target
from functions.cluster_object_set.tear_down import tear_down
from shared import names
from shared.api.manifest import Manifest, annotations_of, metadata
from shared.domain.extension.phases.stamp import unmarked
from shared.kinds import CLUSTER_OBJECT_SET, CONFIG_MAP, DEPLOYMENT, SECRET, Ref
from shared.ports import Attempt, WriteFailure
from shared.step import Merge
from tests.functions.cluster_extension.world import World, a_config_map
from tests.kit.cluster import FakeCluster, FixedClock

REF = CLUSTER_OBJECT_SET.ref("set-1")
PLACE = "place"
FIRST, SECOND = (CONFIG_MAP.ref(name, PLACE) for name in ("first", "second"))
WHERE = SECRET.ref("content", PLACE)


def a_set(*phases: Any, name: str = "set-1", number: int = 1, owner: str = "set", **spec: Any) -> Manifest:
    listed = [{"name": f"phase{i}", "objects": objects} for i, objects in enumerate(phases)]
    return {
        "apiVersion": CLUSTER_OBJECT_SET.api_version, "kind": "ClusterObjectSet",
        "metadata": {
            "name": name, "uid": f"uid-{name}", "generation": 1, "annotations": {names.V1_BUNDLE_VERSION: "1.0.0"},
            "labels": {names.V1_OWNER_NAME: owner} if owner else {},
        },
        "spec": {
            "lifecycleState": "Active", "revision": number, "collisionProtection": "Prevent", "phases": listed, **spec
        },
    }  # fmt: skip


def held(*objects: Manifest) -> list[Manifest]:
    return [{"object": one} for one in objects]


def a_probe(*assertions: Manifest, **selector: Any) -> list[Manifest]:
    kind = next(iter(selector))
    return [{"selector": {"type": kind[0].upper() + kind[1:], **selector}, "assertions": list(assertions)}]


def a_world(*objects: Manifest) -> World:
    world = World()
    world.objects.setdefault_namespace(PLACE)
    for one in objects:
        world.put(one)
    world.settle()
    return world


def reported(world: World, kind: str = "Progressing", ref: Ref = REF) -> tuple[str, str, str]:
    return world.conditions(ref)[kind]


def in_secret(*objects: Manifest, is_immutable: bool = True) -> tuple[Manifest, list[Manifest]]:
    """A Secret with objects, and what refers to it."""
    data = {f"k{i}": base64.b64encode(json.dumps(one).encode()).decode() for i, one in enumerate(objects)}
    meta = {"name": WHERE.name, "namespace": PLACE}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "immutable": is_immutable, "data": data}
    return secret, [{"ref": {"name": WHERE.name, "namespace": PLACE, "key": key}} for key in data]


BAR = {"type": "FieldValue", "fieldValue": {"fieldPath": "data.foo", "value": "bar"}}


@pytest.mark.parametrize("value", ["foo", "bar"])
def test_v1_md_26_9_v3_v4_a_phase_waits_for_the_one_before(value: str) -> None:
    first = a_config_map("first", PLACE, foo=value)
    probes = a_probe(BAR, groupKind={"group": "", "kind": "ConfigMap"})
    second = a_config_map("second", PLACE, foo="bar")
    world = a_world(a_set(held(first), held(second), progressionProbes=probes))
    if value == "foo":
        assert reported(world, "Available") == ("False", "RollingOut", "Revision 1.0.0 is rolling out.")
        world.later(seconds=3)
        why = f'Object ConfigMap.v1 {PLACE}/first: value at key "data.foo" != "bar"; expected: "bar" got: "foo"'
        assert reported(world, "Available") == ("False", "ProbeFailure", why)
        assert SECOND not in world.objects
    else:
        assert reported(world, "Available")[1] == "ProbesSucceeded"
        assert reported(world)[1] == reported(world, "Succeeded")[1] == "Succeeded"
        assert SECOND in world.objects


def test_v1_md_26_9_v5_objects_in_a_secret() -> None:
    secret, places = in_secret(a_config_map("first", PLACE, a="b"))
    world = a_world(secret, a_set(places))
    assert reported(world)[1] == "Succeeded"
    [phase] = world.status(REF)["observedPhases"]
    assert phase["name"] == "phase0"
    assert phase["digest"].startswith("sha256:")
    assert world.objects[FIRST]["data"] == {"a": "b"}


def test_v1_md_26_9_v6_a_secret_that_may_change() -> None:
    secret, places = in_secret(a_config_map("first", PLACE), is_immutable=False)
    world = a_world(secret, a_set(places))
    why = "the following secrets are not immutable (referenced secrets must have immutable set to true): place/content"
    assert reported(world) == ("False", "Blocked", why)
    assert not world.delayed, "only an edit helps"


def test_v1_md_26_9_v7_content_that_changes_is_refused_until_it_is_back() -> None:
    secret, places = in_secret(a_config_map("first", PLACE, a="b"))
    world = a_world(secret, a_set(places))
    other, _ = in_secret(a_config_map("first", PLACE, a="c"))
    world.put(other)
    world.receive(names.UPDATED, REF)
    world.settle()
    assert reported(world)[:2] == ("False", "Blocked")
    assert 'resolved content of 1 phase(s) has changed: phase "phase0"' in reported(world)[2]
    assert world.objects[FIRST]["data"] == {"a": "b"}
    world.put(secret)
    world.receive(names.UPDATED, REF)
    world.settle()
    assert reported(world)[1] == "Succeeded"


def test_v1_md_21_6_a_secret_that_is_not_there() -> None:
    secret, places = in_secret(a_config_map("first", PLACE))
    world = a_world(a_set(places))
    assert reported(world)[:2] == ("True", "Retrying")
    assert "getting Secret place/content" in reported(world)[2]
    world.put(secret)
    world.later(seconds=11)
    assert reported(world)[1] == "Succeeded"


def test_v1_md_26_9_v8_v9_the_deadline_passes_and_the_revision_is_archived() -> None:
    labels = {"app": "a"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
    deployment = {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "slow", "namespace": PLACE},
        "spec": {"selector": {"matchLabels": labels}, "template": pod},
    }  # fmt: skip
    ready = {"type": "ConditionEqual", "conditionEqual": {"type": "Available", "status": "True"}}
    probes = a_probe(ready, groupKind={"group": "apps", "kind": "Deployment"})
    phases = (held(a_config_map("first", PLACE)), held(deployment))
    world = a_world(a_set(*phases, progressionProbes=probes, progressDeadlineMinutes=10))
    assert reported(world) == ("True", "RollingOut", "Revision 1.0.0 is rolling out.")
    world.later(minutes=11)
    late = "Revision has not rolled out for 10 minute(s). Last status: Revision 1.0.0 is rolling out."
    assert reported(world) == ("False", "ProgressDeadlineExceeded", late)
    world.runs()
    assert reported(world)[1] == "Succeeded"
    world.api.merge(REF, {"spec": {"lifecycleState": "Archived"}})
    world.settle()
    for _ in range(3):
        world.later(seconds=6)
    assert reported(world) == ("False", "Archived", "revision is archived")
    assert FIRST not in world.objects
    assert DEPLOYMENT.ref("slow", PLACE) not in world.objects
    assert not metadata(world.objects[REF]).get("finalizers")
    world.requests.clear()
    world.receive(names.UPDATED, REF)
    world.settle()
    assert world.requests["write"] == 0


@pytest.mark.parametrize(
    ("objects", "why"),
    [
        (held(a_config_map("first", PLACE), a_config_map("first", PLACE)), "duplicate object found in phases: phase0"),
        (held({**a_config_map("a", PLACE), "metadata": {"name": "a", "uid": "x"}}), "metadata.uid: Forbidden"),
        (held(a_config_map("No_Name", PLACE)), "'No_Name' is no name of a ConfigMap"),
    ],
    ids=["twice", "uid", "name"],
)  # fmt: skip
def test_v1_md_21_7_what_cannot_be_applied(objects: Sequence[Manifest], why: str) -> None:
    world = a_world(a_set(objects))
    assert reported(world)[:2] == ("True", "Retrying")
    assert why in reported(world)[2]
    assert FIRST not in world.objects


@pytest.mark.parametrize(
    ("declared", "is_taken"),
    [
        ({}, False),
        ({"collisionProtection": "IfNoController"}, True),
        ({"phase": "IfNoController"}, True),
        ({"collisionProtection": "None", "object": "Prevent"}, False),
    ],
    ids=str,
)
def test_v1_md_21_7_what_nobody_controls(declared: dict[str, str], is_taken: bool) -> None:
    one = a_set(held(a_config_map("first", PLACE, a="b")))
    one["spec"]["collisionProtection"] = declared.get("collisionProtection", "Prevent")
    phase = one["spec"]["phases"][0]
    for place, key in ((phase, "phase"), (phase["objects"][0], "object")):
        if key in declared:
            place["collisionProtection"] = declared[key]
    world = a_world(a_config_map("first", PLACE, mine="x"), one)
    assert (reported(world)[1] == "Succeeded") is is_taken, reported(world)
    assert world.objects[FIRST]["data"] == ({"mine": "x", "a": "b"} if is_taken else {"mine": "x"})


def test_what_the_server_refuses_is_reported_and_tried_again() -> None:
    world = World()
    world.objects.setdefault_namespace(PLACE)
    world.refused[FIRST] = WriteFailure("forbidden", "you may not", 0, FIRST)
    world.put(a_set(held(a_config_map("first", PLACE)), held(a_config_map("second", PLACE))))
    world.settle()
    assert reported(world) == ("True", "Retrying", f"revision reconcile: {FIRST}: you may not")
    assert SECOND not in world.objects
    del world.refused[FIRST]
    world.later(seconds=11)
    assert reported(world)[1] == "Succeeded"


def test_v1_md_21_7_one_object_that_is_refused_does_not_keep_its_phase_from_being_tried() -> None:
    world = World()
    world.objects.setdefault_namespace(PLACE)
    third = CONFIG_MAP.ref("third", PLACE)
    for ref in (FIRST, SECOND):
        world.refused[ref] = WriteFailure("forbidden", f"not the {ref.name}", 0, ref)
    phase = held(*(a_config_map(name, PLACE, a="b") for name in ("first", "second", "third")))
    world.put(a_set(phase, held(a_config_map("fourth", PLACE))))
    world.settle()
    assert third in world.objects
    assert CONFIG_MAP.ref("fourth", PLACE) not in world.objects, "a later phase waits"
    why = f"revision reconcile: {FIRST}: not the first; {SECOND}: not the second"
    assert reported(world) == ("True", "Retrying", why)
    world.refused.clear()
    world.later(seconds=11)
    assert reported(world)[1] == "Succeeded"


def a_hand_over() -> World:
    """A revision with two objects, and the next one, which changes both and is refused one of them."""
    world = a_world(a_set(held(*(a_config_map(name, PLACE, a="1") for name in ("first", "second")))))
    for ref in (FIRST, SECOND):  # what is put back has been applied, and is not declared so any more
        world.api.merge(ref, {"data": {"a": "0"}})
    world.settle()
    world.refused[SECOND] = WriteFailure("invalid", "no such value", 0, SECOND)
    phase = held(*(a_config_map(name, PLACE, a="2") for name in ("first", "second")))
    world.put(a_set(phase, name="set-2", number=2))
    world.settle()
    return world


def test_v1_md_21_7_a_phase_that_would_be_refused_leaves_what_runs_as_it_is() -> None:
    world = a_hand_over()
    assert world.objects[FIRST]["data"] == {"a": "1"}
    why = f"phase 0 validation error: {SECOND}: no such value"
    assert reported(world, ref=CLUSTER_OBJECT_SET.ref("set-2")) == ("True", "Retrying", why)
    world.refused.clear()
    world.later(seconds=11)
    assert reported(world, ref=CLUSTER_OBJECT_SET.ref("set-2"))[1] == "Succeeded"
    assert [world.objects[ref]["data"] for ref in (FIRST, SECOND)] == [{"a": "2"}, {"a": "2"}]


def test_what_changes_nothing_that_runs_is_not_tried_first() -> None:
    world = a_world(a_set(held(*(a_config_map(name, PLACE) for name in ("first", "second")))))
    assert reported(world)[1] == "Succeeded"
    assert world.requests["try"] == 0


def test_a_revision_on_hold_leaves_its_objects_as_they_are() -> None:
    world = a_world(a_set(held(a_config_map("first", PLACE, a="b"))))
    with world.edited(REF) as found:
        found["metadata"]["annotations"][names.HOLD] = "we look at it"
    world.settle()
    world.remove(FIRST)
    world.settle()
    assert FIRST not in world.objects
    with world.edited(REF) as found:
        del found["metadata"]["annotations"][names.HOLD]
    world.settle()
    assert FIRST in world.objects


def test_v1_md_21_6_a_teardown_that_is_refused_is_reported() -> None:
    world = a_world(a_set(held(*(a_config_map(name, PLACE) for name in ("first", "second")))))
    world.refused[FIRST] = WriteFailure("forbidden", "you may not", 0, FIRST)
    with world.edited(REF) as found:
        found["spec"]["lifecycleState"] = "Archived"
    world.settle()
    assert SECOND not in world.objects
    assert reported(world) == ("True", "Retrying", f"error archiving revision: {FIRST}: you may not")
    world.refused.clear()
    world.later(seconds=11)
    world.later(seconds=6)
    assert reported(world)[1] == "Archived"


def test_a_kind_that_is_not_served_is_reported() -> None:
    thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a", "namespace": PLACE}}
    world = a_world(a_set(held(thing)))
    assert reported(world)[:2] == ("True", "Retrying")
    assert "the server does not serve the kind Thing of example.com/v1" in reported(world)[2]


def test_the_texts_of_a_secret_are_no_difference() -> None:
    note = SECRET.ref("note", PLACE)
    meta = {"name": note.name, "namespace": PLACE}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "stringData": {"a": "b"}, "data": {"c": "ZA=="}}
    world = a_world(a_set(held(secret)))
    assert world.objects[note]["data"] == {"a": "Yg==", "c": "ZA=="}
    assert annotations_of(world.objects[REF])[names.KINDS_OF_OBJECTS] == "v1/Secret"
    world.requests.clear()
    world.receive(names.UPDATED, REF)
    world.settle()
    assert world.requests["write"] == 0


def test_an_object_whose_mark_is_no_number_is_a_collision() -> None:
    world = a_world(a_set(held(a_config_map("first", PLACE))))
    with world.edited(FIRST) as found:
        found["metadata"]["annotations"][names.V1_REVISION] = "many"
    world.put(a_set(held(a_config_map("first", PLACE)), name="set-2", number=2))
    world.settle()
    other = CLUSTER_OBJECT_SET.ref("set-2")
    assert 'Action: "Collision"' in reported(world, ref=other)[2]


def test_a_revision_without_an_extension_has_no_siblings() -> None:
    world = a_world(a_set(held(a_config_map("first", PLACE)), owner=""))
    assert reported(world)[1] == "Succeeded"
    assert names.V1_OWNER_NAME not in metadata(world.objects[FIRST])["labels"]


def test_v1_md_21_7_what_is_to_outlive_its_revision_is_unmarked() -> None:
    world = a_world(a_set(held(a_config_map("first", PLACE))))
    revision = world.objects[REF]
    revision["metadata"] |= {"finalizers": ["orphan", names.V1_TEARDOWN], "deletionTimestamp": "2026-01-01T00:00:00Z"}
    cluster = FakeCluster([revision, world.objects[FIRST]])
    found = tear_down(REF, cluster, cluster, FixedClock(), attempt=Attempt())
    assert [(type(one), target(one)) for one in found.writes] == [(Merge, FIRST), (Merge, REF)]
    assert found.writes[0] == Merge(FIRST, unmarked(), world.objects[FIRST]["metadata"]["resourceVersion"], batch=1)


def test_what_is_orphaned_is_not_deleted() -> None:
    world = a_world(a_set(held(a_config_map("first", PLACE))))
    world.api.delete(REF, propagation="Orphan")
    world.settle()
    world.later(seconds=6)
    assert FIRST in world.objects
    assert REF not in world.objects


@pytest.mark.parametrize("is_deleted", [True, False])
def test_a_teardown_without_content(is_deleted: bool) -> None:
    secret, places = in_secret(a_config_map("first", PLACE))
    world = a_world(secret, a_set(places))
    world.remove(WHERE)
    if is_deleted:
        world.api.delete(REF)
    else:
        world.api.merge(REF, {"spec": {"lifecycleState": "Archived"}})
    world.settle()
    assert (REF in world.objects) is not is_deleted
    if not is_deleted:
        assert reported(world)[1] == "Retrying"
        world.put(secret)
        for _ in range(3):
            world.later(seconds=11)
        assert reported(world)[1] == "Archived"
    assert FIRST not in world.objects


def test_the_audit_looks_at_every_revision_that_is_wanted() -> None:
    world = a_world(a_set(held(a_config_map("first", PLACE))))
    world.remove(FIRST)
    world.jobs.clear()
    world.receive(names.AUDIT_REQUESTED, Ref("v1", "Namespace", "olm"))
    world.settle()
    assert FIRST in world.objects


def test_a_revision_that_goes_says_what_holds_it_back() -> None:
    world = a_world(a_set(held(a_config_map("first", PLACE))))
    world.api.merge(FIRST, {"metadata": {"finalizers": ["example.com/mine"]}})
    world.settle()
    world.api.delete(REF)
    world.settle()
    world.later(seconds=6)
    assert reported(world)[2].endswith(
        f"; still there: Object ConfigMap.v1 {PLACE}/first (finalizers: example.com/mine)"
    )
    world.api.merge(FIRST, {"metadata": {"finalizers": None}})
    world.settle()
    world.later(seconds=6)
    assert FIRST not in world.objects
    assert REF not in world.objects
