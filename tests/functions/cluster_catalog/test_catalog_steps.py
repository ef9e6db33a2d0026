"""From the spec of a ClusterCatalog to its status (v1.md §3, §8.2)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from functions.cluster_catalog.guard_catalog import guard_catalog
from functions.cluster_catalog.unpack_catalog import unpack_catalog
from shared import names
from shared.errors import RetryLater
from shared.kinds import CLUSTER_CATALOG
from shared.ports import Attempt, Policy, Unavailable
from shared.step import NOTHING, Emit, Merge, Outcome, Record, SetStatus
from tests.functions.subscription.world import World, a_package

REF = CLUSTER_CATALOG.ref("c")
IMAGE = "registry/c:v1"
DIGEST = "registry/c@sha256:" + "0" * 63 + "1"
BASE = "https://olmf-catalogs.olm.svc/catalogs/c"
DISABLED = "Catalog availability mode is set to Unavailable"


def a_catalog(ref: str = IMAGE, *, is_marked: bool = True, **spec: Any) -> dict[str, Any]:
    marks = {"labels": {names.V1_NAME: "c"}, "finalizers": [names.V1_CATALOG_FINALIZER]} if is_marked else {}
    source = {"type": "Image", "image": {"ref": ref}}
    return {
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterCatalog",
        "metadata": {"name": "c", "uid": "u", "generation": 1, **marks},
        "spec": {"source": source, "availabilityMode": "Available", "priority": 0, **spec},
    }  # fmt: skip


def a_world(ref: str = IMAGE, **spec: Any) -> World:
    world = World(a_catalog(ref, **spec))
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0"))
    return world


def guarded(world: World) -> Outcome:
    return guard_catalog(REF, world, world)


def unpacked(world: World, ended: str = "") -> Outcome:
    return unpack_catalog(REF, world, world.catalogs, world, Policy(), attempt=Attempt(ended=ended))


def follow(world: World, outcome: Outcome) -> dict[str, Any]:
    """The status of the object after the writes of an outcome, which are in the world then."""
    for write in outcome.writes:
        if isinstance(write, Record):
            continue
        assert isinstance(write, SetStatus | Merge)
        present = world.objects[REF]["metadata"]["resourceVersion"]
        assert write.resource_version == present, "what others wrote meanwhile is not overwritten"
        with world.edited(REF) as obj:
            if isinstance(write, SetStatus):
                obj["status"] = dict(write.status)
            else:
                obj["metadata"] |= write.patch["metadata"]
    return dict(world.objects[REF].get("status", {}))


def conditions(status: dict[str, Any]) -> dict[str, tuple[str, str, str]]:
    return {one["type"]: (one["status"], one["reason"], one["message"]) for one in status["conditions"]}


SERVED = {
    "Serving": ("True", "Available", "Serving desired content from resolved source"),
    "Progressing": ("True", "Succeeded", "Successfully unpacked and stored content from resolved source"),
}


def served() -> World:
    world = a_world()
    follow(world, unpacked(world))
    return world


def test_v1_md_3_6_row_6_first_of_all_it_is_marked() -> None:
    world = a_world(is_marked=False)
    assert unpacked(world) == NOTHING, "nothing is pulled before"
    [write] = guarded(world).writes
    assert isinstance(write, Merge)
    assert write.patch["metadata"] == {
        "labels": {names.V1_NAME: "c"}, "finalizers": [names.V1_CATALOG_FINALIZER]
    }  # fmt: skip


@pytest.mark.parametrize("labels", [{}, {"a": "b"}, {names.V1_NAME: "other"}], ids=["none", "others", "wrong"])
def test_v1_md_8_2_the_label_is_its_name(labels: dict[str, str]) -> None:
    world = a_world()
    with world.edited(REF) as obj:
        obj["metadata"]["labels"] = labels
    [write] = guarded(world).writes
    assert isinstance(write, Merge)
    assert write.patch == {"metadata": {"labels": {names.V1_NAME: "c"}}}, "a merge keeps the other labels"


def test_v1_md_3_6_row_4_content_is_served() -> None:
    world = a_world()
    assert guarded(world) == NOTHING
    status = follow(world, unpacked(world))
    assert conditions(status) == SERVED
    assert status["resolvedSource"] == {"type": "Image", "image": {"ref": DIGEST}}
    assert status["urls"] == {"base": BASE}
    assert status["lastUnpacked"] == status["conditions"][0]["lastTransitionTime"]
    assert {one["observedGeneration"] for one in status["conditions"]} == {1}


def test_idle_means_no_write() -> None:
    world = served()
    world.time += timedelta(minutes=5)
    assert unpacked(world).writes == guarded(world).writes == ()


def test_v1_md_3_6_row_13_a_tag_is_looked_up_again() -> None:
    world = a_world()
    assert unpacked(world).again_in is None
    with world.edited(REF) as obj:
        obj["spec"]["source"]["image"]["pollIntervalMinutes"] = 5
    assert unpacked(world).again_in == timedelta(minutes=5)


def test_v1_md_3_6_row_14_another_digest_and_what_others_wrote_is_reported() -> None:
    world = served()
    world.catalogs.publish(IMAGE, a_package("etcd", "2.0.0"))
    assert follow(world, unpacked(world))["resolvedSource"]["image"]["ref"].endswith("2")
    with world.edited(REF) as obj:
        obj["status"]["conditions"].append({"type": "Foreign", "status": "True"})
    assert conditions(follow(world, unpacked(world))) == SERVED
    with world.edited(REF) as obj:
        obj["metadata"]["generation"] = 2
    assert {one["observedGeneration"] for one in follow(world, unpacked(world))["conditions"]} == {2}


def test_v1_md_3_6_row_2_a_pull_that_fails_is_tried_again_and_what_was_served_stays() -> None:
    world = served()
    trouble = "read tcp 10.0.0.1:5->10.0.0.2:443: connection reset by peer"
    world.catalogs.trouble = Unavailable("Unreachable", trouble, timedelta(minutes=1))
    outcome = unpacked(world)
    assert outcome.again_in == timedelta(minutes=1)
    assert outcome.wait is not None
    assert [one.reason for one in outcome.writes if isinstance(one, Record)] == ["UnpackFailed"]
    assert outcome.emits == (Emit(names.CATALOG_FAILED, REF),)
    status = follow(world, outcome)
    retrying = ("True", "Retrying", "source catalog content: connection reset by peer")
    assert conditions(status) == {**SERVED, "Progressing": retrying}
    assert status["resolvedSource"]["image"]["ref"] == DIGEST
    with pytest.raises(RetryLater):
        unpacked(world)


def test_a_catalog_that_was_never_read_is_not_served() -> None:
    world = World(a_catalog())
    status = follow(world, unpacked(world))
    assert conditions(status).keys() == {"Progressing"}
    assert status.keys() == {"conditions"}


def test_a_pull_that_was_ended_is_reported() -> None:
    world = a_world()
    status = follow(world, unpacked(world, "ended after 600 s: its time limit"))
    assert "the pull was ended after 600 s" in conditions(status)["Progressing"][2]


@pytest.mark.parametrize(("ref", "status"), [(IMAGE, "True"), (DIGEST, "False")], ids=["tag", "digest"])
def test_v1_md_3_6_row_3_an_image_by_digest_that_is_no_catalog_is_blocked(ref: str, status: str) -> None:
    world = a_world(ref)
    world.catalogs.trouble = Unavailable("NoCatalog", "it is no catalog")
    outcome = unpacked(world)
    found = conditions(follow(world, outcome))["Progressing"]
    assert found[:2] == (status, "Blocked" if status == "False" else "Retrying")
    assert found[2].startswith(
        "source catalog content: error applying image: catalog image is missing the required label "
        '"operators.operatorframework.io.index.configs.v1"'
    )
    assert (outcome.again_in is None) is (status == "False")
    if status == "False":
        assert unpacked(world).writes == (), "nothing is tried again"


def test_v1_md_3_6_row_5_files_that_are_no_catalog_are_tried_again() -> None:
    world = served()
    world.catalogs.trouble = Unavailable("BadCatalog", "a.json, document 1: missing root schema field")
    outcome = unpacked(world)
    assert outcome.again_in is not None
    found = conditions(follow(world, outcome))
    why = "error storing fbc: a.json, document 1: missing root schema field"
    assert found == {**SERVED, "Progressing": ("True", "Retrying", why)}


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ({"type": "Git"}, 'unknown source type "Git"'),
        ({"type": "Image"}, 'error parsing ClusterCatalog "c", image source is nil'),
        (
            {"type": "Image", "image": {"ref": "Registry/UPPER:v1"}},
            (
                'source catalog content: error parsing image reference "Registry/UPPER:v1": invalid reference format: '
                "repository name must be lowercase"
            ),
        ),
    ],
)
def test_v1_md_3_6_row_1_what_only_an_edit_helps_is_blocked(source: dict[str, Any], why: str) -> None:
    world = a_world(source=source)
    assert unpacked(world) == NOTHING
    assert conditions(follow(world, guarded(world)))["Progressing"] == ("False", "Blocked", why)
    assert guarded(world).writes == ()


def test_v1_md_3_6_row_10_an_unavailable_one_serves_nothing_and_lets_go() -> None:
    world = served()
    with world.edited(REF) as obj:
        obj["spec"]["availabilityMode"] = "Unavailable"
    assert unpacked(world) == NOTHING
    status = follow(world, guarded(world))
    assert status.keys() == {"conditions"}
    assert conditions(status) == {
        "Serving": ("False", "UserSpecifiedUnavailable", DISABLED),
        "Progressing": ("True", "Succeeded", DISABLED),
    }
    follow(world, guarded(world))
    assert world.objects[REF]["metadata"]["finalizers"] == []
    assert guarded(world).writes == ()


def test_v1_md_3_6_row_11_back_again() -> None:
    world = World({**a_catalog(), "metadata": {**a_catalog()["metadata"], "finalizers": ["other/one"]}})
    follow(world, guarded(world))
    assert world.objects[REF]["metadata"]["finalizers"] == ["other/one", names.V1_CATALOG_FINALIZER]


def test_v1_md_3_6_rows_7_and_12_a_deleted_one_serves_nothing_and_goes() -> None:
    world = served()
    with world.edited(REF) as obj:
        obj["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert unpacked(world) == NOTHING
    status = follow(world, guarded(world))
    assert conditions(status) == {**SERVED, "Serving": ("False", "Unavailable", "")}
    assert status.keys() == {"conditions"}
    follow(world, guarded(world))
    assert world.objects[REF]["metadata"]["finalizers"] == []
    assert guarded(world) == NOTHING


def test_what_is_gone_is_left_alone() -> None:
    world = World()
    assert (guarded(world), unpacked(world)) == (NOTHING, NOTHING)
