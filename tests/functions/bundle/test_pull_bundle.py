"""With `OLMF_UNPACK=direct` a worker of the long lane pulls bundle images; nobody else waits for it."""

from __future__ import annotations

import json

import pytest

from eventing.events.job import Job
from functions.bundle.pull_bundle import pull_bundle
from shared import kinds, names
from shared.api.manifest import annotations_of, metadata
from shared.domain.bundle.hash import bundle_hash
from shared.kinds import Ref
from shared.ports import Attempt, Policy
from shared.step import NOTHING, Create, Emit, Merge, Outcome
from tests.functions.bundle.test_unpack_bundle import STEP
from tests.functions.subscription.test_install import a_world, conditions, the
from tests.functions.subscription.world import World, a_subscription

IMAGE = "registry/etcd:v1.0.0"
CONFIG_MAP = kinds.CONFIG_MAP.ref(bundle_hash(IMAGE), "olm")
PULL = Job("bundle/pull_bundle", CONFIG_MAP, "long")


def direct(*, is_there: bool = True) -> World:
    """A world whose Subscription wants a bundle."""
    world = a_world(policy=Policy(unpack="direct"))
    if not is_there:
        del world.bundles.images[IMAGE]
    world.put(a_subscription())
    return world


def asked(*, is_there: bool = True) -> World:
    """The same, where the pull was asked for and has not begun."""
    world = direct(is_there=is_there)
    while PULL not in world.jobs:
        job = next(iter(world.jobs))
        del world.jobs[job]
        world.run(job)
    return world


def pull(world: World, attempt: Attempt | None = None, ref: Ref = CONFIG_MAP) -> Outcome:
    attempt = attempt or Attempt()
    return pull_bundle(ref, world, world.bundles, world, policy=world.policy, attempt=attempt)


def change(world: World, **given: object) -> None:
    """Somebody changes the metadata of the ConfigMap."""
    present = world.objects[CONFIG_MAP]
    world.put({**present, "metadata": {**metadata(present), **given}})


def test_the_namespace_only_asks_for_the_pull() -> None:
    world = asked()
    assert annotations_of(world.objects[CONFIG_MAP]) == {names.PULL_IMAGE: IMAGE}
    assert "binaryData" not in world.objects[CONFIG_MAP]
    assert conditions(world)["BundleUnpacking"][0] == "UnpackingInProgress"
    outcome = world.run(STEP)
    assert (outcome.writes, outcome.emits) == ((), (Emit(names.BUNDLE_REQUESTED, CONFIG_MAP),))
    assert "a worker pulls its image" in outcome.message


def test_when_the_image_is_here_the_plan_is_made() -> None:
    world = direct()
    world.settle()
    assert world.objects[CONFIG_MAP]["binaryData"]
    assert len(the(world, kinds.INSTALL_PLAN)) == 1
    assert the(world, kinds.JOB) == []
    assert pull(world) == NOTHING, "what is here is not pulled again"


def test_an_empty_config_map_of_a_job_is_told_which_image_it_is() -> None:
    world = direct()
    del world.jobs[next(iter(world.jobs))]
    world.put({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": CONFIG_MAP.name, "namespace": "olm"}})
    [write] = [write for write in world.run(STEP).writes if isinstance(write, Merge | Create)]
    assert isinstance(write, Merge)
    assert annotations_of(world.objects[CONFIG_MAP]) == {names.PULL_IMAGE: IMAGE}


def test_why_it_cannot_be_had_is_reported_and_it_is_tried_again() -> None:
    world = direct(is_there=False)
    world.settle()
    reason, message = conditions(world)["BundleUnpackFailed"]
    assert (reason, "no such image" in message) == ("BundleUnpackFailed", True)
    again = pull(world)
    assert (again.writes, again.emits, again.message) == ((), (), f"{IMAGE}: not again so soon after a failure")

    world.bundles.images[IMAGE] = direct().bundles.images[IMAGE]
    world.later(seconds=61)
    assert names.PULL_FAILED not in annotations_of(world.objects[CONFIG_MAP])
    assert len(the(world, kinds.INSTALL_PLAN)) == 1


def test_a_pull_that_was_ended_is_reported_by_the_next_attempt() -> None:
    world = asked()
    [write] = pull(world, Attempt(2, ended="ended after 600 s: its time limit")).writes
    assert isinstance(write, Merge)
    reported = json.loads(write.patch["metadata"]["annotations"][names.PULL_FAILED])
    assert reported["message"] == "the pull was ended after 600 s: its time limit"


@pytest.mark.parametrize(
    "reported", ["no json", "[]", "{}", "[" * 50_000, '{"at": "yesterday"}', '{"at": "2100-01-01T00:00:00Z"}']
)
def test_what_nobody_of_us_wrote_stops_no_pull(reported: str) -> None:
    world = asked()
    change(world, annotations={names.PULL_IMAGE: IMAGE, names.PULL_FAILED: reported})
    assert annotations_of(world.objects[CONFIG_MAP])[names.PULL_FAILED] == reported
    assert pull(world).message == f"{IMAGE} is unpacked"


def test_what_nobody_waits_for_any_more_is_not_pulled_again() -> None:
    world = direct(is_there=False)
    world.settle()
    world.remove(next(ref for ref in world.objects if ref.kind == kinds.SUBSCRIPTION.kind))
    assert pull(world).again_in is None
    world.later(seconds=61)
    assert pull(world).again_in is None


def test_nobody_pulls_for_what_is_gone_or_is_no_config_map_of_ours() -> None:
    world = asked()
    assert pull(world, ref=kinds.CONFIG_MAP.ref("another", "olm")) == NOTHING
    owners = metadata(world.objects[CONFIG_MAP])["ownerReferences"]
    change(world, ownerReferences=[])
    assert pull(world) == NOTHING
    change(world, ownerReferences=owners)
    world.remove(kinds.CATALOG_SOURCE.ref("local", "olm"))
    assert pull(world) == NOTHING
