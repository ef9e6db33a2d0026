"""A recorded world, built again, ends alike, however its events come; another decision shows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from eventing.diagnosis.replay.perturbation import KINDS, Kind, drawn
from eventing.diagnosis.replay.sandboxed import replay_in_sandbox
from eventing.diagnosis.replay.search import changes_of
from eventing.diagnosis.replay.world import WorldReport
from eventing.runner import Steps
from eventing.runner.steps import Step, step_of
from shared import names
from shared.api.manifest import Manifest, is_deleted, resource_version_of, uid_of
from shared.kinds import CLUSTER_CATALOG, CONFIG_MAP, DEPLOYMENT, SUBSCRIPTION, Ref
from shared.ports import Clock, Cluster, Policy
from shared.step import NOTHING, Create, Merge, Outcome, SetStatus
from tests.replay.living import LivingWorld

FINALIZER, ANOTHER = names.CSV_CLEANUP, "example.com/counted"
TRACK = "subscription/track_subscription"


def track(ref: Ref, cluster: Cluster, clock: Clock) -> Outcome:
    """Copies the channel of a Subscription to a ConfigMap that it owns, and says when in its status."""
    return _track(ref, cluster, clock, "channel")


def track_otherwise(ref: Ref, cluster: Cluster, clock: Clock) -> Outcome:
    return _track(ref, cluster, clock, "another-key")


def _track(ref: Ref, cluster: Cluster, clock: Clock, key: str) -> Outcome:
    found = cluster.get(ref)
    if found is None:
        return NOTHING
    owner = {"apiVersion": ref.api_version, "kind": ref.kind, "name": ref.name, "uid": uid_of(found)}
    meta = {"name": f"channel-{ref.name}", "namespace": ref.namespace, "ownerReferences": [owner]}
    data = {key: found["spec"]["channel"]}
    status = {"state": found["spec"]["channel"], "lastUpdated": clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")}
    if (found.get("status") or {}).get("state") == status["state"]:
        status = found["status"]
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}
    write = Merge(Ref.of(made), {"data": data}) if cluster.get(Ref.of(made)) else Create(made)
    return Outcome((write, SetStatus(ref, status, resource_version_of(found))))


def deploy(ref: Ref, cluster: Cluster) -> Outcome:
    """Makes a Deployment for a Subscription, and tells in its status when that is available."""
    return _deploy(ref, cluster, "tide:1")


def deploy_another(ref: Ref, cluster: Cluster) -> Outcome:
    return _deploy(ref, cluster, "tide:2")


def _deploy(ref: Ref, cluster: Cluster, image: str) -> Outcome:
    found = cluster.get(ref)
    if found is None:
        return NOTHING
    meta = {"name": ref.name, "namespace": ref.namespace, "labels": {names.OWNER: ref.name}}
    app = {"app": ref.name}
    template = {"metadata": {"labels": app}, "spec": {"containers": [{"name": "tide", "image": image}]}}
    spec = {"selector": {"matchLabels": app}, "template": template}
    made = {"apiVersion": DEPLOYMENT.api_version, "kind": DEPLOYMENT.kind, "metadata": meta, "spec": spec}
    present = cluster.get(Ref.of(made))
    state = "Ready" if (present or {}).get("status", {}).get("availableReplicas") else "Waiting"
    status = {"state": state, "lastUpdated": "2026-01-01T00:00:00Z"}
    writes = () if present else (Create(made),)
    return Outcome((*writes, SetStatus(ref, status, resource_version_of(found))), again_in=timedelta(seconds=1))


def guard(ref: Ref, cluster: Cluster) -> Outcome:
    """Keeps a Subscription until a ConfigMap notes its end."""
    return _guard(ref, cluster, is_left=True)


def guard_for_ever(ref: Ref, cluster: Cluster) -> Outcome:
    return _guard(ref, cluster, is_left=False)


def _guard(ref: Ref, cluster: Cluster, *, is_left: bool) -> Outcome:
    found = cluster.get(ref)
    kept = ((found or {}).get("metadata") or {}).get("finalizers") or []
    if found is None or (FINALIZER in kept) is not is_deleted(found):
        return NOTHING
    if not is_deleted(found):
        return Outcome((Merge(ref, {"metadata": {"finalizers": [*kept, FINALIZER]}}),))
    meta = {"name": f"end-of-{ref.name}", "namespace": ref.namespace}
    left = [one for one in kept if one != FINALIZER or not is_left]
    end = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}
    return Outcome((Create(end), Merge(ref, {"metadata": {"finalizers": left}})))


def idle(ref: Ref) -> Outcome:
    return NOTHING


class TheseSteps(Steps):
    """One step does something, the others nothing."""

    def __init__(self, call: Callable[..., Outcome]) -> None:
        super().__init__()
        self._call = call

    def __getitem__(self, name: str) -> Step:
        return step_of(name, self._call if name == TRACK else idle, "0")


def a_subscription(name: str, channel: str) -> Manifest:
    meta = {"name": name, "namespace": "olm"}
    spec = {"name": name, "channel": channel, "source": "catalog", "sourceNamespace": "olm"}
    return {"apiVersion": SUBSCRIPTION.api_version, "kind": SUBSCRIPTION.kind, "metadata": meta, "spec": spec}


def an_incident(path: Path) -> Path:
    """Two Subscriptions come, one changes its channel, the other goes, and with it what it owns."""
    then = LivingWorld(steps=TheseSteps(track))
    for name in ("one", "two"):
        then.add(a_subscription(name, "alpha"))
    then.change(SUBSCRIPTION.ref("one", "olm"), {"spec": {"channel": "beta"}})
    then.remove(SUBSCRIPTION.ref("two", "olm"))
    return then.save(path)


def a_rollout(path: Path) -> Path:
    """A Subscription comes, a Deployment is made for it, and somebody makes that available."""
    then = LivingWorld(steps=TheseSteps(deploy))
    then.add(a_subscription("one", "alpha"))
    then.change(DEPLOYMENT.ref("one", "olm"), {"status": {"availableReplicas": 1}}, subresource="status")
    then.change(SUBSCRIPTION.ref("one", "olm"), {"spec": {"installPlanApproval": "Manual"}})
    return then.save(path)


def an_end(path: Path, *others: str) -> Path:
    """Somebody deletes a Subscription that our step keeps for a moment, and others until they have seen it."""
    then = LivingWorld(steps=TheseSteps(guard))
    one = a_subscription("one", "alpha")
    then.add({**one, "metadata": {**one["metadata"], "finalizers": [*others]}})
    then.remove(SUBSCRIPTION.ref("one", "olm"))
    if others:
        then.change(SUBSCRIPTION.ref("one", "olm"), {"metadata": {"finalizers": []}})
    return then.save(path)


def replayed(path: Path, call: Callable[..., Outcome], **arguments: Any) -> WorldReport:
    return replay_in_sandbox(path, steps=TheseSteps(call), **arguments)


def perturbed(path: Path, kind: Kind | None) -> dict[str, Any]:
    """Half of the events of a capture are disturbed."""
    return {"perturbed": drawn(kind, len(changes_of(path)), 7)} if kind else {}


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_the_same_steps_end_alike_however_the_events_come(kind: Kind | None, tmp_path: Path) -> None:
    path = an_incident(tmp_path / "incident.tar")
    report = replayed(path, track, **perturbed(path, kind))
    assert report.differences == ()
    assert (report.failures, report.exit_code) == ((), 0)


@pytest.mark.parametrize("others", [(), (ANOTHER,)], ids=["ours", "of others, too"])
def test_what_finalizers_keep_ends_as_it_did(others: tuple[str, ...], tmp_path: Path) -> None:
    report = replayed(an_end(tmp_path / "end.tar", *others), guard)
    assert (report.differences, report.failures) == ((), ())


def test_a_finalizer_that_we_do_not_take_off_any_more_shows(tmp_path: Path) -> None:
    report = replayed(an_end(tmp_path / "end.tar"), guard_for_ever)
    assert [ref for ref, _ in report.differences] == [SUBSCRIPTION.ref("one", "olm")]


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_a_catalog_that_is_deleted_ends_by_the_step_that_guards_it(kind: Kind | None, tmp_path: Path) -> None:
    then = LivingWorld({Policy: Policy()})
    source = {"type": "Image", "image": {"ref": "registry.example/catalog:v1"}}
    meta, spec = {"name": "community"}, {"source": source}
    then.add({"apiVersion": CLUSTER_CATALOG.api_version, "kind": CLUSTER_CATALOG.kind, "metadata": meta, "spec": spec})
    then.remove(CLUSTER_CATALOG.ref("community"))
    assert then.api.get(CLUSTER_CATALOG.ref("community")) is None
    path = then.save(tmp_path / "catalog.tar")
    assert replay_in_sandbox(path, **perturbed(path, kind)).differences == ()


def test_another_decision_shows_in_the_object_that_it_made(tmp_path: Path) -> None:
    report = replayed(an_incident(tmp_path / "incident.tar"), track_otherwise)
    assert report.exit_code == 1
    assert [ref for ref, _ in report.differences] == [CONFIG_MAP.ref("channel-one", "olm")]
    assert '+    "another-key": "beta"' in report.differences[0][1]


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_another_image_shows_although_others_answer_it_as_they_did(kind: Kind | None, tmp_path: Path) -> None:
    path = a_rollout(tmp_path / "rollout.tar")
    assert replayed(path, deploy, **perturbed(path, kind)).differences == ()
    ((ref, diff),) = replayed(path, deploy_another, **perturbed(path, kind)).differences
    assert ref == DEPLOYMENT.ref("one", "olm")
    changed = [line.split() for line in diff.splitlines()[2:] if line[0] in "+-"]
    assert changed == [["-", '"image":', '"tide:1",'], ["+", '"image":', '"tide:2",']]


def test_a_missing_deployment_and_another_phase_show(tmp_path: Path) -> None:
    report = replayed(a_rollout(tmp_path / "rollout.tar"), idle)
    assert [ref.kind for ref, _ in report.differences] == ["Deployment", "Subscription"]
    assert '-    "state": "Ready"' in report.differences[1][1]


def test_a_step_that_does_nothing_any_more_shows(tmp_path: Path) -> None:
    assert replayed(an_incident(tmp_path / "incident.tar"), idle).exit_code == 1


def test_a_bug_is_reported(tmp_path: Path) -> None:
    def broken(ref: Ref) -> Outcome:
        raise KeyError("x")

    report = replayed(an_incident(tmp_path / "incident.tar"), broken)
    assert "KeyError" in report.failures[0]
    assert report.exit_code == 1


def test_steps_that_enqueue_themselves_for_ever_are_stopped(tmp_path: Path) -> None:
    def restless(ref: Ref, cluster: Cluster) -> Outcome:
        found = cluster.get(ref)
        if found is None:
            return NOTHING
        turn = int((found.get("status") or {}).get("state") or 0)
        status = {"state": str(turn + 1), "lastUpdated": "2026-01-01T00:00:00Z"}
        return Outcome((SetStatus(ref, status, resource_version_of(found)),))

    report = replayed(an_incident(tmp_path / "incident.tar"), restless)
    assert not report.is_settled
    assert report.exit_code == 1
