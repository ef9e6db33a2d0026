"""A world is built again in a real sandbox."""

from __future__ import annotations

from pathlib import Path

from eventing.diagnosis.replay.sandboxed import replay_in_sandbox
from shared.api.manifest import Manifest
from shared.kinds import DEPLOYMENT, Ref
from shared.ports import Cluster
from shared.step import NOTHING, Create, Outcome
from tests.eventing.diagnosis.replay.test_world import TheseSteps, a_subscription, an_incident, track
from tests.kit.captures import captured
from tests.replay.living import LivingWorld


def test_a_world_is_replayed_in_a_fresh_sandbox(tmp_path: Path) -> None:
    report = replay_in_sandbox(an_incident(tmp_path / "incident.tar"), steps=TheseSteps(track))
    assert report.differences == ()
    assert report.exit_code == 0


def a_deployment(image: str) -> Manifest:
    """Without anything that a server fills in."""
    labels = {"app": "one"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "one", "image": image}]}}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    meta = {"name": "one", "namespace": "olm"}
    return {"apiVersion": DEPLOYMENT.api_version, "kind": DEPLOYMENT.kind, "metadata": meta, "spec": spec}


def deploy(ref: Ref, cluster: Cluster) -> Outcome:
    return Outcome((Create(a_deployment("tide:1")),)) if cluster.get(ref) else NOTHING


def deploy_another(ref: Ref, cluster: Cluster) -> Outcome:
    return Outcome((Create(a_deployment("tide:2")),)) if cluster.get(ref) else NOTHING


def test_defaults_that_the_server_of_then_did_not_know_are_no_difference(tmp_path: Path) -> None:
    then = LivingWorld(steps=TheseSteps(deploy))
    then.add(a_subscription("one", "alpha"))
    ref = DEPLOYMENT.ref("one", "olm")
    old = {**a_deployment("tide:1"), "metadata": then.objects[ref]["metadata"]}
    captured(
        then.index, path := tmp_path / "old.tar", [*(then.objects[one] for one in then.objects if one != ref), old]
    )
    assert replay_in_sandbox(path, steps=TheseSteps(deploy)).differences == ()
    [(ref, diff)] = replay_in_sandbox(path, steps=TheseSteps(deploy_another)).differences
    assert ref == DEPLOYMENT.ref("one", "olm")
    changed = [line for line in diff.splitlines()[2:] if line[0] in "+-"]
    assert [line.split() for line in changed] == [["-", '"image":', '"tide:1",'], ["+", '"image":', '"tide:2",']]
