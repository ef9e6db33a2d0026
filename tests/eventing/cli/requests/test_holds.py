"""`olmf hold` and `--release`: one annotation is put, every one that holds is taken away; and what a hold leaves."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

import pytest

from eventing.cli.requests.follow import Goal, Observation, kept
from eventing.cli.requests.request import PackageError
from eventing.cli.requests.subscribing import approve_plan, set_hold
from eventing.diagnosis.status.package_status import PackageStatus
from shared import names
from shared.adapters.kube import KubeClient
from shared.api.manifest import Manifest, annotations_of
from shared.kinds import INSTALL_PLAN, SUBSCRIPTION, Ref
from tests.kit.cluster import FakeCluster
from tests.kit.plans import recorded

REF = SUBSCRIPTION.ref("a", "ns")


class Annotated(FakeCluster):
    """A cluster that takes merge patches of annotations."""

    def merge(self, ref: Ref, patch: Manifest) -> None:
        metadata: dict[str, Any] = dict(self.objects[ref]["metadata"])
        found = {**metadata.get("annotations", {}), **patch["metadata"]["annotations"]}
        metadata["annotations"] = {name: value for name, value in found.items() if value is not None}
        self.objects[ref] = {**self.objects[ref], "metadata": metadata}


def a_cluster(installed: str = "", **annotations: str) -> Annotated:
    metadata = {"name": "a", "namespace": "ns", "annotations": annotations}
    manifest = {"apiVersion": REF.api_version, "kind": REF.kind, "metadata": metadata, "spec": {"name": "a"}}
    return Annotated([{**manifest, "status": {"installedCSV": installed}}])


def test_a_hold_names_what_is_kept() -> None:
    cluster = a_cluster("a.v1")
    assert set_hold(cast("KubeClient", cluster), "ns", "a", "audit") == "a is held at a.v1: audit"
    assert annotations_of(cluster.objects[REF]) == {names.HOLD: "audit"}
    assert set_hold(cast("KubeClient", a_cluster()), "ns", "a", "audit") == (
        "a is held before anything is installed: audit"
    )


def test_a_release_takes_every_hold_away() -> None:
    cluster = a_cluster("a.v1", **{names.HOLD: "audit", names.HOLD_INSTALLED: "as tested", "other": "stays"})
    assert set_hold(cast("KubeClient", cluster), "ns", "a", "") == "a is released"
    assert annotations_of(cluster.objects[REF]) == {"other": "stays"}


def test_a_release_of_what_is_not_on_hold_says_so_and_what_pins_it() -> None:
    assert set_hold(cast("KubeClient", FakeCluster(a_cluster().objects.values())), "ns", "a", "") == (
        "a was not on hold, so nothing was done"
    )
    pinned = "; it is pinned to a.v1, and `kubectl -n ns annotate subscription a olmf.io/version-` lifts the pin"
    cluster = a_cluster("a.v1", **{names.VERSION: "a.v1"})
    assert set_hold(cast("KubeClient", cluster), "ns", "a", "") == f"a was not on hold, so nothing was done{pinned}"
    cluster = a_cluster("a.v1", **{names.VERSION: "a.v1", names.HOLD: "audit"})
    assert set_hold(cast("KubeClient", cluster), "ns", "a", "") == f"a is released{pinned}"
    assert annotations_of(cluster.objects[REF]) == {names.VERSION: "a.v1"}


class Approved(FakeCluster):
    """A cluster that remembers which plans were approved."""

    def user_name(self) -> str:
        return "alice"

    def merge(self, ref: Ref, patch: Manifest, *, field_manager: str) -> None:
        assert (patch["spec"], field_manager) == ({"approved": True}, names.APPROVER)
        self.objects[ref] = {**self.objects[ref], "spec": {**self.objects[ref]["spec"], "approved": True}}


PLAN = INSTALL_PLAN.ref("install-1", "ns")


def a_plan(*, approved: bool = False, **status: object) -> Manifest:
    meta = {"name": PLAN.name, "namespace": PLAN.namespace}
    spec = {"clusterServiceVersionNames": ["a.v1"], "approved": approved}
    return {"apiVersion": PLAN.api_version, "kind": PLAN.kind, "metadata": meta, "spec": spec, "status": status}


WAITS = recorded(a_plan(phase="RequiresApproval", plan=[{"resolving": "a.v1", "status": "Unknown"}]))


@pytest.mark.parametrize(
    ("annotations", "installed", "plan", "warning"),
    [
        pytest.param({}, "a.v0", PLAN.name, "", id="no hold"),
        pytest.param(
            {names.HOLD: "audit"}, "", PLAN.name,
            "a is held (audit), which does not stop a plan that is approved", id="held before the first version",
        ),
        pytest.param(
            {names.HOLD_INSTALLED: "audit"}, "a.v0", PLAN.name,
            "a is held (audit), which does not stop a plan that is approved", id="its installed version is held",
        ),
        pytest.param({names.HOLD_INSTALLED: "later"}, "", PLAN.name, "", id="the first version is not held"),
        pytest.param({names.HOLD: "audit"}, "", "install-2", "", id="the plan of another Subscription"),
    ],
)  # fmt: skip
def test_who_approves_what_a_hold_came_too_late_for_is_warned(
    annotations: dict[str, str], installed: str, plan: str, warning: str
) -> None:
    meta = {"name": "a", "namespace": "ns", "annotations": annotations}
    status = {"installedCSV": installed, "installPlanRef": {"name": plan}}
    locked = {
        "apiVersion": REF.api_version,
        "kind": REF.kind,
        "metadata": meta,
        "spec": {"name": "a"},
        "status": status,
    }
    cluster = Approved([locked, WAITS])
    output = approve_plan(cast("KubeClient", cluster), "ns", "install-1")
    if warning:
        assert next(output) == warning
        assert not cluster.objects[PLAN]["spec"]["approved"], "the warning comes first"
    assert list(output) == ["approved install-1: a.v1"]
    assert cluster.objects[PLAN]["spec"]["approved"] is True


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        pytest.param(a_plan(), "install-1 has no steps yet, so there is nothing to approve", id="it was just made"),
        pytest.param(
            a_plan(approved=True, conditions=[{"type": "Installed", "status": "False", "reason": "NotPlannedHere"}]),
            "InstallPlan install-1 was not written by olm-functions", id="made by hand, and told so",
        ),
        pytest.param(
            a_plan(phase="Planning", plan=[{}]), "InstallPlan install-1 was not written by olm-functions",
            id="left by OLM before it waited for approval",
        ),
    ],
)  # fmt: skip
def test_what_is_not_ours_is_not_approved(plan: Manifest, why: str) -> None:
    with pytest.raises(PackageError) as refused:
        list(approve_plan(cast("KubeClient", Approved([plan])), "ns", "install-1"))
    assert str(refused.value).startswith(why)


@pytest.mark.parametrize(
    ("pin", "more"),
    [
        ("", ""),
        ("a.v1", ", and it is pinned to a.v1; `kubectl -n ns annotate subscription a olmf.io/version-` lifts the pin"),
    ],
)
def test_an_upgrade_of_what_is_held_names_the_pin_too(pin: str, more: str) -> None:
    status = PackageStatus("ns", "a", "a", "a.v1", "a.v1", "Succeeded", held="a.v1: audit", pin=pin)
    goal = Goal("ns", "a", timedelta(0), is_newest=True)
    found = kept(Observation(status, "", 0.0, is_over=False), goal)
    assert found == f"a is held at a.v1: audit; `olmf hold a --release -n ns` lets it go{more}"
