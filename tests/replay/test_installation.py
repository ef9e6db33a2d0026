"""What a real installation went through is decided alike again, and its world ends alike however its events come."""

from __future__ import annotations

import time
from copy import deepcopy
from pathlib import Path

from eventing.cli.demo.play import publish
from eventing.diagnosis.replay import open_capture, replay
from eventing.diagnosis.replay.perturbation import KINDS, drawn
from eventing.diagnosis.replay.sandboxed import replay_in_sandbox
from eventing.diagnosis.replay.search import changes_of
from shared.api.views import InstallPlan
from shared.kinds import (
    CLUSTER_CATALOG,
    CLUSTER_SERVICE_VERSION,
    DEPLOYMENT,
    INSTALL_PLAN,
    OPERATOR_CONDITION,
    SUBSCRIPTION,
    Ref,
)
from tests.kit.captures import captured
from tests.kit.installation import Installation, installed
from tests.kit.waiting import wait_for

READING_SECONDS = 1.0
ENVIRONMENT = [{"name": "HARMLESS", "value": "later"}, {"name": "SHORT", "value": "50"}]
HASHING = {"cluster_service_version/install_operator", "cluster_service_version/probe_operator"}
"""They compare a hash of a Deployment that has these variables, whose values are not recorded."""


def test_an_install_an_upgrade_and_an_uninstall_replay_alike(tmp_path: Path) -> None:
    file = a_story(tmp_path)
    report = replay(file)
    assert [each.detail for each in report.replayed if each.result != "same"] == []
    count = len(changes_of(file))
    for perturbed in (None, *(drawn(kind, count, 0) for kind in KINDS)):
        world = replay_in_sandbox(file, perturbed=perturbed)
        assert [diff for _, diff in world.differences] == [], perturbed
        assert world.exit_code == 0  # why: the Pod of an unpack Job cannot be repeated before its account is there
    world = replay_in_sandbox(falsified(file))
    assert [(ref.kind, ref.namespace) for ref, _ in world.differences] == [
        ("Deployment", "one"), ("ClusterServiceVersion", "one"), ("OperatorCondition", "one"),
    ]  # fmt: skip
    assert world.exit_code == 1


def test_what_a_subscription_gives_and_what_finalizers_keep_replays_alike(tmp_path: Path) -> None:
    file = a_given_environment(tmp_path)
    report = replay(file)
    assert [each.detail for each in report.replayed if each.result == "different"] == []
    assert {each.run.step for each in report.replayed if each.result == "skipped"} <= HASHING
    world = replay_in_sandbox(file)
    assert ([diff for _, diff in world.differences], world.exit_code) == ([], 0)


def a_given_environment(folder: Path) -> Path:
    """Somebody gives variables to an operator that is installed, and makes and deletes a ClusterCatalog."""
    publish(bundles := folder / "bundles", "beacon/1.0.0")
    with installed(folder / "state", "--bundles", str(bundles)) as found:
        found.olmf("install", "beacon", "-n", "one")
        found.cluster.merge(SUBSCRIPTION.ref("beacon", "one"), {"spec": {"config": {"env": ENVIRONMENT}}})
        image = {"type": "Image", "image": {"ref": "127.0.0.1:1/catalog:v1"}}
        catalog = CLUSTER_CATALOG.ref("short-lived")
        identity = {"apiVersion": catalog.api_version, "kind": catalog.kind, "metadata": {"name": catalog.name}}
        found.apply({**identity, "spec": {"source": image}})
        found.until(catalog, lambda one: one["metadata"].get("finalizers"))
        found.cluster.delete(catalog)
        found.until_gone(catalog)
        found.until_it_rests()
        found.olmf("capture", "-o", str(file := folder / "given.tar"))
    return file


def a_story(folder: Path) -> Path:
    """One operator is upgraded and stays, another is uninstalled; a person approves each plan of the first."""
    bundles = folder / "bundles"
    publish(bundles, "tide/0.2.0", "beacon/1.0.0")
    with installed(folder / "state", "--bundles", str(bundles)) as found:
        found.olmf("install", "tide", "-n", "one", "--manual", "--timeout", "0")
        found.olmf("approve", waiting_plan(found), "-n", "one")
        found.olmf("install", "beacon", "-n", "two")
        found.until_phase("tide.v0.2.0", "one")
        publish(bundles, "tide/1.0.0")
        found.cluster.delete(INSTALL_PLAN.ref(waiting_plan(found), "one"))
        found.olmf("approve", waiting_plan(found), "-n", "one")
        found.until_phase("tide.v1.0.0", "one")
        found.until_gone(CLUSTER_SERVICE_VERSION.ref("tide.v0.2.0", "one"))
        found.olmf("uninstall", "beacon", "-n", "two")
        found.until_gone(DEPLOYMENT.ref("beacon-controller", "two"))
        found.until_it_rests()
        file = folder / "story.tar.gz"
        found.olmf("capture", "-o", str(file))
    return file


def waiting_plan(found: Installation) -> str:
    """The name of the plan that waits for its approval, to somebody who reads it: a replay knows such pauses."""

    def waiting() -> list[str]:
        plans = map(InstallPlan, found.cluster.list(INSTALL_PLAN, "one"))
        return [plan.name for plan in plans if plan.phase == "RequiresApproval" and not plan.is_approved]

    name = wait_for(waiting, "a plan to approve")[0]
    found.until_it_rests()  # on a busy machine something else may change while he reads
    time.sleep(READING_SECONDS)
    return name


def falsified(file: Path) -> Path:
    """The same story with another end: another image, another phase, and an object that is missing."""
    recorded = open_capture(file)
    objects = {Ref.of(manifest): deepcopy(manifest) for manifest in recorded.objects}
    objects[DEPLOYMENT.ref("tide-controller", "one")]["spec"]["template"]["spec"]["containers"][0]["image"] = "other"
    objects[CLUSTER_SERVICE_VERSION.ref("tide.v1.0.0", "one")]["status"]["phase"] = "Failed"
    del objects[OPERATOR_CONDITION.ref("tide.v1.0.0", "one")]
    captured(recorded.index, spoiled := file.with_name("falsified.tar"), objects.values())
    return spoiled
