"""What upstream's older engine installed is taken over as it is (v1.md §21.9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from shared import names
from shared.api.manifest import Manifest, annotations_of, labels_of, metadata, uid_of
from shared.api.views import ClusterObjectSet
from shared.domain.extension.phases.sources import resolved
from shared.kinds import CONFIG_MAP, DEPLOYMENT, Ref
from shared.reading.revision import secrets_of as secrets_of_revision
from tests.functions.cluster_extension.world import EXTENSION, PLACE, World, installed
from tests.kit.helm_release import ETCD, a_release, before_revisions, secrets_of

pytestmark = pytest.mark.unmeasured

SETTINGS = CONFIG_MAP.ref("etcd-settings", PLACE)
CONTROLLER = DEPLOYMENT.ref("etcd-controller", PLACE)
SINCE = {"status": "True", "reason": "Succeeded", "lastTransitionTime": "2025-01-01T00:00:00Z"}
RELEASED = {
    "install": {"bundle": {"name": "etcd.v1.0.0", "version": "1.0.0"}},
    "conditions": [
        {"type": "Installed", "message": "Installed bundle x successfully", **SINCE},
        {"type": "Progressing", "message": "Desired state reached", **SINCE},
    ],
}


def by_helm(*versions: str, **source: Any) -> tuple[World, tuple[Manifest, ...]]:
    """A cluster where upstream's older engine installed etcd 1.0.0, and the objects of its release, without Secrets."""
    world = installed(*(versions or ("1.0.0",)), **source)
    first = ClusterObjectSet(world.objects[world.revision(1)])
    phases = resolved(first.raw, secrets_of_revision(first, world))
    extension = world.objects[EXTENSION]
    for one in (one for phase in phases for one in phase.objects):
        place = "" if one["kind"] in ("CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding") else PLACE
        ref = Ref(one["apiVersion"], one["kind"], one["metadata"]["name"], place)
        world.objects[ref] = before_revisions(world.objects[ref], extension)
    for ref in [ref for ref in world.objects if ref.kind == "Secret" or ref == world.revision(1)]:
        del world.objects[ref]
    world.objects[EXTENSION] = {**extension, "status": RELEASED}
    world.jobs.clear()
    world.delayed.clear()
    return world, tuple(one for phase in phases for one in phase.objects)


def reported(world: World, *secrets: Manifest) -> None:
    for one in secrets:
        world.put(one)
    world.receive(names.ADDED, EXTENSION)
    world.settle()


def uids(world: World) -> dict[Ref, tuple[str, Any]]:
    """Who every object is, and what its controller sees of it."""
    kept = {ref: one for ref, one in world.objects.items() if ref.kind not in ("ClusterObjectSet", "Secret", "Event")}
    return {ref: (uid_of(one), one.get("spec") if ref.kind == "Deployment" else None) for ref, one in kept.items()}


def release_of(
    world: World, objects: tuple[Manifest, ...], labels: Mapping[str, str] = ETCD, **more: Any
) -> list[Manifest]:
    extension = world.objects[EXTENSION]
    version, chunk = more.pop("version", 1), more.pop("chunk", 1 << 20)
    return secrets_of(a_release(extension, objects, labels, **more), extension, version=version, chunk=chunk)


@pytest.mark.measured
@pytest.mark.parametrize("chunk", [1 << 20, 700], ids=["one secret", "several secrets"])
def test_v1_md_21_9_a_release_becomes_the_first_revision(chunk: int) -> None:
    world, objects = by_helm()
    before, secrets = uids(world), release_of(world, objects, chunk=chunk)
    world.objects[CONTROLLER] = {**world.objects[CONTROLLER], "status": {}}
    reported(world, *secrets)
    first = world.objects[world.revision(1)]
    assert first["spec"]["collisionProtection"] == "None"
    assert labels_of(first)[names.V1_MIGRATED] == "true"
    assert {key: annotations_of(first)[key] for key in ETCD} == ETCD
    assert annotations_of(first)[names.V1_PROPERTIES] == "[]"
    found = world.conditions(world.revision(1))["Succeeded"]
    assert found == ("True", "Succeeded", "Revision succeeded - migrated from Helm release")
    assert world.status()["install"] == RELEASED["install"]
    world.runs()
    world.later(seconds=20)
    assert uids(world) == before, "no object is another one, and no pod is restarted"
    assert [ref for ref in map(Ref.of, secrets) if ref not in world.objects] == [], "its Secrets stay"
    assert world.conditions()["Progressing"] == ("True", "Succeeded", "Revision 1.0.0 has rolled out.")


def test_v1_md_21_9_the_second_revision_protects_its_objects() -> None:
    world, objects = by_helm()
    reported(world, *release_of(world, objects))
    world.runs()
    world.later(seconds=20)
    assert world.status()["activeRevisions"] == [{"name": "etcd-2"}]
    second = world.objects[world.revision(2)]
    assert second["spec"]["collisionProtection"] == "Prevent"
    assert names.V1_MIGRATED not in labels_of(second)
    owners = metadata(world.objects[SETTINGS])["ownerReferences"]
    assert [one["name"] for one in owners if one.get("controller")] == ["etcd-2"]
    managers = {one["manager"] for one in metadata(world.objects[CONTROLLER])["managedFields"]}
    assert names.V1_HELM_MANAGER not in managers, "so fields go that a later version does not have"
    world.requests.clear()
    world.receive(names.UPDATED, EXTENSION)
    world.settle()
    assert world.requests["write"] == 0


def test_v1_md_21_9_nothing_collides_on_the_way() -> None:
    world, objects = by_helm()
    everybody, world.groups = world.groups, ("cluster_extension",)
    reported(world, *release_of(world, objects))
    assert world.revision(2) not in world.objects, "the first has not looked at its objects"
    world.groups = everybody
    world.receive(names.ADDED, world.revision(1))
    world.settle()
    for number in (1, 2):
        reasons = {one[1] for one in world.conditions(world.revision(number)).values()}
        assert "Retrying" not in reasons


def test_v1_md_21_9_an_upgrade_takes_away_what_the_next_version_does_not_have() -> None:
    world, objects = by_helm("1.0.0", "1.1.0", version="1.0.0")
    reported(world, *release_of(world, objects))
    with world.edited(EXTENSION) as found:
        found["spec"]["source"]["catalog"]["version"] = "1.1.0"
        found["metadata"]["generation"] = 2
    world.settle()
    world.runs()
    world.later(seconds=20)
    assert world.status()["install"]["bundle"]["version"] == "1.1.0"
    assert world.objects[SETTINGS]["data"] == {"version": "1.1.0"}


def test_v1_md_21_9_revisions_that_exist_are_never_touched() -> None:
    world = installed()
    before = world.objects[world.revision(1)]
    reported(world, *release_of(world, ()))
    assert world.objects[world.revision(1)] == before


@pytest.mark.parametrize("message", [None, "Revision 1.0.0 is rolling out."], ids=["missing", "false"])
def test_v1_md_21_9_a_status_that_was_not_written_is(message: str | None) -> None:
    world, objects = by_helm()
    reported(world, *release_of(world, objects))
    with world.edited(world.revision(1)) as found:
        kept = [one for one in found["status"]["conditions"] if one["type"] != "Succeeded"]
        wrong = {"type": "Succeeded", "status": "False", "reason": "RollingOut", "message": message}
        found["status"]["conditions"] = [*kept, *([wrong] if message else [])]
        found["spec"]["lifecycleState"] = "Active"
    world.settle()
    assert world.conditions(world.revision(1))["Succeeded"][0] == "True"


def test_v1_md_21_9_a_first_revision_that_was_not_migrated_succeeds_by_itself_alone() -> None:
    world = installed()
    with world.edited(world.revision(1)) as found:
        found["status"]["conditions"] = []
    world.runs(ready=False)
    assert "Succeeded" not in world.conditions(world.revision(1))


def test_v1_md_21_9_the_last_release_that_was_deployed_counts() -> None:
    world, objects = by_helm()
    failed = release_of(world, (), {**ETCD, names.V1_BUNDLE_VERSION: "9.0.0"}, status="failed", version=3)
    old = release_of(world, (), {**ETCD, names.V1_BUNDLE_VERSION: "0.9.0"}, version=1)
    reported(world, *failed, *old, *release_of(world, objects, version=2))
    assert annotations_of(world.objects[world.revision(1)])[names.V1_BUNDLE_VERSION] == "1.0.0"


@pytest.mark.measured
@pytest.mark.parametrize("status", ["", "failed", "superseded"])
def test_v1_md_21_9_without_a_deployed_release_it_is_an_install(status: str) -> None:
    world, objects = by_helm()
    reported(world, *(release_of(world, objects, status=status) if status else []))
    assert names.V1_MIGRATED not in labels_of(world.objects[world.revision(1)])
    assert "revision object collisions" in world.conditions()["Progressing"][2]


def test_a_release_of_somebody_else_is_none() -> None:
    world, objects = by_helm()
    [secret] = release_of(world, objects)
    secret["metadata"]["ownerReferences"][0]["uid"] = "another"
    reported(world, secret)
    assert names.V1_MIGRATED not in labels_of(world.objects[world.revision(1)])


def test_an_extension_that_installed_nothing_reads_no_release() -> None:
    world, objects = by_helm()
    world.objects[EXTENSION] = {**world.objects[EXTENSION], "status": {}}
    reported(world, *release_of(world, objects))
    assert names.V1_MIGRATED not in labels_of(world.objects[world.revision(1)])


@pytest.mark.measured
def test_a_release_that_cannot_be_read_changes_nothing_and_is_reported() -> None:
    world, objects = by_helm()
    before = uids(world)
    [secret] = release_of(world, objects)
    reported(world, {**secret, "data": {**secret["data"], "chunk": "bm8gZ3ppcA=="}})
    status, reason, message = world.conditions()["Progressing"]
    assert (status, reason) == ("True", "Retrying")
    assert message.startswith("migrating storage: failed to decode release sh.helm.release.v1.etcd.v1: ")
    assert world.conditions()["Installed"] == ("True", "Succeeded", "Installed bundle x successfully")
    assert (uids(world), world.status()["install"]) == (before, RELEASED["install"])
    world.requests.clear()
    world.later(seconds=61)
    assert world.requests["write"] == 0
    world.put(secret)
    world.later(seconds=61)
    assert world.revision(1) in world.objects
