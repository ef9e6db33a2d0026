"""Unpacking in a namespace: what is repaired, told and tried again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from eventing.events.job import Job
from shared import kinds, names
from shared.api.manifest import Manifest, metadata, name_of
from shared.domain.bundle.hash import bundle_hash
from shared.kinds import Kind, Ref
from shared.ports import Attempt, Policy, WriteFailure
from shared.step import Create, Delete, Merge, SetStatus
from tests.functions.subscription.test_install import IMAGE, a_world, conditions, status, the
from tests.functions.subscription.world import (
    World,
    a_bundle,
    a_catalog_source,
    a_package,
    a_subscription,
    an_operator_group,
)

pytestmark = pytest.mark.unmeasured

STEP = Job("bundle/unpack_bundle", kinds.NAMESPACE.ref("ns"))


def failed() -> World:
    """The image of etcd was not there."""
    world = a_world()
    del world.bundles.images["registry/etcd:v1.0.0"]
    world.put(a_subscription())
    world.settle()
    world.finish_jobs()
    world.settle()
    assert "BundleUnpackFailed" in conditions(world)
    return world


def one(world: World, kind: Kind) -> Manifest:
    [found] = [one for one in the(world, kind, "olm") if name_of(one) != "default"]
    return found


def test_a_changed_role_and_binding_are_repaired_while_the_job_is_at_work() -> None:
    """catalog.md 5.1: the missing rule comes back, the binding is deleted and made anew."""
    world = a_world(a_subscription())
    role, binding = one(world, kinds.ROLE), one(world, kinds.ROLE_BINDING)
    world.put({**role, "rules": []})
    world.put({**binding, "subjects": []})
    world.later(seconds=20)
    assert one(world, kinds.ROLE)["rules"] == role["rules"]
    again = one(world, kinds.ROLE_BINDING)
    assert again["subjects"] == binding["subjects"]
    assert metadata(again)["uid"] != metadata(binding)["uid"]


def test_deleted_objects_are_made_again() -> None:
    world = a_world(a_subscription())
    for kind in (kinds.ROLE, kinds.SERVICE_ACCOUNT, kinds.ROLE_BINDING):
        world.remove(Ref.of(one(world, kind)))
    world.later(seconds=20)
    for kind in (kinds.ROLE, kinds.SERVICE_ACCOUNT, kinds.ROLE_BINDING):
        assert one(world, kind)


def test_a_failed_unpack_is_tried_again_when_its_catalog_comes_back() -> None:
    """Not only after five minutes: the registry may have been away, catalog and bundles alike."""
    world = failed()
    uid = metadata(one(world, kinds.JOB))["uid"]
    world.receive(names.DEPENDENT_CHANGED, kinds.CATALOG_SOURCE.ref("local", "olm"))
    world.settle()
    assert metadata(one(world, kinds.JOB))["uid"] == uid, "the catalog says the same"
    world.later(seconds=20)
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0"))
    world.receive(names.RESYNC_REQUESTED, kinds.CATALOG_SOURCE.ref("local", "olm"))
    world.settle()
    assert metadata(one(world, kinds.JOB))["uid"] != uid
    assert set(conditions(world)) == {"BundleUnpacking"}, "catalog.md 9.14: never both"


def test_a_failure_says_which_bundle_and_what_is_done_next() -> None:
    """Whoever asks why finds the failure of the bundle, not only the choice of the version."""
    outcome = failed().run(STEP)
    assert outcome.message == "etcd.v1.0.0: failed, DeadlineExceeded"
    assert outcome.wait is not None
    assert outcome.wait.what.startswith("etcd: Bundle unpacking failed - DeadlineExceeded: too slow")
    assert status(failed())["state"] == ""


@pytest.mark.parametrize("unpack", ["job", "direct"])
def test_an_image_with_another_version_than_its_catalog_says_is_not_installed(unpack: str) -> None:
    """issue 3 §3: an image that lies leaves a condition."""
    world = a_world(policy=Policy(unpack=unpack))  # type: ignore[arg-type]  # why: a parameter
    world.bundles.images["registry/etcd:v1.0.0"] = a_bundle("etcd", "2.0.0")
    world.put(a_subscription())
    world.settle()
    world.finish_jobs()
    world.settle()
    reason, message = conditions(world)["BundleUnpackFailed"]
    assert reason == "ErrorPreventedUnpacking"
    assert "holds ClusterServiceVersion etcd.v2.0.0, but its catalog names it etcd.v1.0.0" in message
    assert the(world, kinds.INSTALL_PLAN) == []
    before = world.run(STEP)
    del world.bundles.images["registry/etcd:v1.0.0"]
    assert world.run(STEP) == before, "what was unpacked is kept, and not pulled each time"


def test_the_first_status_says_how_the_catalogs_are_and_needs_no_second_one() -> None:
    """catalog.md 3.5: `CatalogSourcesUnhealthy` and `catalogHealth`, as `track_subscription` writes them."""
    world = a_world()
    world.put(a_subscription())
    (write,) = (one for one in world.run(STEP).writes if isinstance(one, SetStatus))
    assert {one["type"]: one["status"] for one in write.status["conditions"]} == {
        "BundleUnpacking": "True", "CatalogSourcesUnhealthy": "False",
    }  # fmt: skip
    subscription = world.objects[write.ref]
    world.put({**subscription, "status": write.status})
    tracked = world.run(Job("subscription/track_subscription", write.ref)).writes
    assert [type(one) for one in tracked] == [Create, Merge]


@pytest.mark.measured
def test_catalogs_that_were_not_read_are_not_judged() -> None:
    """A namespace that leaves the global catalogs out reads its own ones only; its Subscriptions see all of them."""
    group = an_operator_group(name="group-0")
    group["metadata"]["annotations"] = {names.EXCLUDE_GLOBAL_CATALOGS: "true"}
    world = a_world(group, a_catalog_source(namespace="ns"))
    world.put(a_subscription(sourceNamespace="ns"))
    (write,) = (one for one in world.run(STEP).writes if isinstance(one, SetStatus))
    assert [one["type"] for one in write.status["conditions"]] == ["BundleUnpacking"]
    assert "catalogHealth" not in write.status


def test_a_binding_is_deleted_before_it_is_made() -> None:
    world = a_world(a_subscription())
    binding = one(world, kinds.ROLE_BINDING)
    world.put({**binding, "roleRef": {**binding["roleRef"], "name": "cluster-admin"}})
    world.time += timedelta(seconds=11)
    writes = [write for write in world.run(STEP).writes if isinstance(write, Delete | Create)]
    assert [type(write) for write in writes] == [Delete, Create]


REFUSAL = "jobs.batch is forbidden: exceeded quota: q, requested: count/jobs.batch=1"


def refuse_jobs(world: World, *images: str) -> list[str]:
    """The API server refuses the Jobs of these bundle images; returns their names."""
    jobs = [kinds.JOB.ref(bundle_hash(f"registry/{image}:v1.0.0"), "olm") for image in images]
    world.refused.update({job: WriteFailure("forbidden", REFUSAL, 0, job) for job in jobs})
    return [job.name for job in jobs]


def reported(name: str) -> dict[str, tuple[str, str]]:
    message = f"Job olm/{name} cannot be written, the API server refuses it: {REFUSAL}"
    return {"BundleUnpacking": ("UnpackingRefused", message)}


def test_a_job_that_the_server_refuses_is_reported_once_and_tried_again() -> None:
    world = a_world()
    (job,) = refuse_jobs(world, "etcd")
    world.put(a_subscription())
    world.settle()
    assert conditions(world) == reported(job)
    assert [event.message for event in world.events] == [reported(job)["BundleUnpacking"][1]]
    before, at = status(world), len(world.events)
    world.later(seconds=31)
    assert (status(world), len(world.events)) == (before, at), "a repeated refusal writes nothing"
    world.refused.clear()
    world.later(seconds=31)
    world.finish_jobs()
    world.settle()
    assert (status(world)["installedCSV"], conditions(world)) == ("etcd.v1.0.0", {})


def test_each_subscription_says_what_the_server_refuses_and_in_the_end_its_own_job() -> None:
    world = a_world()
    jobs = dict(zip(("etcd", "vault"), refuse_jobs(world, "etcd", "vault"), strict=True))
    world.put(a_subscription())
    world.put(a_subscription("vault"))
    world.settle()
    assert {conditions(world, name)["BundleUnpacking"][0] for name in jobs} == {"UnpackingRefused"}
    for _ in range(2):
        world.later(seconds=31)
    assert [conditions(world, name) for name in jobs] == [reported(job) for job in jobs.values()]
    before = [status(world, name) for name in jobs]
    for _ in range(2):
        world.later(seconds=31)
    assert [status(world, name) for name in jobs] == before, "the message does not change with whose turn it is"


def test_a_bundle_that_is_refused_does_not_keep_another_one_out() -> None:
    world = a_world()
    (job,) = refuse_jobs(world, "etcd")
    world.put(a_subscription())
    world.put(a_subscription("vault"))
    for _ in range(3):
        world.settle()
        world.later(seconds=31)
        world.finish_jobs()
    world.settle()
    assert (conditions(world), status(world, "vault")["installedCSV"]) == (reported(job), "vault.v1.0.0")


def test_a_subscription_that_vanished_is_no_refusal_of_its_bundle() -> None:
    world = a_world()
    gone = kinds.SUBSCRIPTION.ref("etcd", "ns")
    world.put(a_subscription())
    attempt = Attempt(2, WriteFailure("forbidden", "no", 0, gone))
    world.settle()
    assert "at work" in world.decide(STEP, attempt).message


@pytest.mark.measured
@pytest.mark.parametrize(("place", "goes_on"), [("olm", False), ("elsewhere", True)])
def test_a_refusal_concerns_the_bundles_of_catalogs_in_its_namespace(place: str, goes_on: bool) -> None:
    world = a_world()
    refuse_jobs(world, "etcd")
    world.put(a_subscription())
    world.settle()
    world.refused.clear()
    outcome = world.decide(STEP, Attempt(2, WriteFailure("forbidden", "no", 0, kinds.JOB.ref("other", place))))
    assert any(isinstance(write, Create) for write in outcome.writes) is goes_on


def test_a_bundle_that_the_worker_unpacks_itself_is_not_unpacked_when_its_config_map_is_refused() -> None:
    world = a_world(policy=Policy(unpack="direct"))
    config_map = kinds.CONFIG_MAP.ref(bundle_hash("registry/etcd:v1.0.0"), "olm")
    world.refused[config_map] = WriteFailure("forbidden", "no", 0, config_map)
    world.put(a_subscription())
    world.settle()
    assert conditions(world)["BundleUnpacking"][0] == "UnpackingRefused"
    assert the(world, kinds.INSTALL_PLAN) == []
