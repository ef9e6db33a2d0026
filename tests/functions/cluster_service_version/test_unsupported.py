"""A version with webhooks or aggregated APIs, which we do not serve: it says so, and nothing of it is touched."""

from __future__ import annotations

from typing import Any

import pytest

from shared.api.manifest import Manifest
from shared.kinds import DEPLOYMENT, Ref
from shared.step import Record, SetStatus
from tests.domain.csv.builders import a_csv, a_group, a_status
from tests.functions.cluster_service_version.world import World

WEBHOOKS: dict[str, Any] = {"webhookdefinitions": [{"generateName": "a.b"}, {"generateName": "c.d"}]}
SERVICES: dict[str, Any] = {"apiservicedefinitions": {"owned": [{"version": "v1", "group": "g", "kind": "Cow"}]}}
TOLD = "webhooks are not supported yet: a.b, c.d"
BY_OLM = {"name": "webhook-cert", "secret": {"secretName": "operator-service-cert"}}


def a_deployment() -> Manifest:
    """As OLM left it: with the certificates of the webhooks, and another hash than ours."""
    meta = {
        "name": "operator",
        "namespace": "ns",
        "uid": "d",
        "resourceVersion": "5",
        "labels": {
            "olm.owner": "a.v1", "olm.owner.namespace": "ns", "olm.owner.kind": "ClusterServiceVersion",
            "olm.deployment-spec-hash": "of-olm",
        },
    }  # fmt: skip
    template = {"metadata": {"annotations": {}}, "spec": {"containers": [{"name": "c"}], "volumes": [BY_OLM]}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": {"template": template}}


PHASES = [
    pytest.param("", "", id="csv.md 4.1: a new one"),
    pytest.param("Pending", "RequirementsUnknown", id="csv.md 4.2: Pending"),
    pytest.param("InstallReady", "AllRequirementsMet", id="csv.md 4.3: InstallReady"),
    pytest.param("Installing", "InstallSucceeded", id="csv.md 4.4: Installing"),
    pytest.param("Succeeded", "InstallSucceeded", id="csv.md 4.5: Succeeded, taken over from OLM, or edited since"),
    pytest.param("Failed", "ComponentUnhealthy", id="csv.md 4.6: Failed"),
]


@pytest.mark.parametrize(
    ("has", "told"),
    [
        pytest.param(WEBHOOKS, TOLD, id="webhooks"),
        pytest.param(SERVICES, "aggregated APIs are not supported yet: v1.g", id="APIServices of its own"),
    ],
)
@pytest.mark.parametrize(("phase", "reason"), PHASES)
def test_every_phase_says_what_is_not_supported(phase: str, reason: str, has: dict[str, Any], told: str) -> None:
    """And its Deployment keeps the volumes that only OLM can serve."""
    status = a_status(phase, reason) if phase else None
    group = a_group()
    group["metadata"]["annotations"] = {"olm.providedAPIs": "Cow.v1.g"}
    world = World([a_csv(status=status, **has), group, a_deployment()])
    before = world.objects[DEPLOYMENT.ref("operator", "ns")]

    for step in ("install", "probe", "check"):
        outcome = world.run(step)
        assert all(isinstance(write, SetStatus | Record) for write in outcome.writes)

    status = world.csv()["status"]
    assert (status["phase"], status["reason"], status["message"]) == ("Pending", "RequirementsNotMet", told)
    assert world.objects[DEPLOYMENT.ref("operator", "ns")] == before
    world.settle()
    wait = world.step("check").wait
    assert wait is not None
    assert wait.what == told


def test_a_version_that_loses_its_webhooks_goes_on() -> None:
    world = World([a_csv(**WEBHOOKS), a_group()])
    world.settle()
    edited = world.csv()
    world.objects[Ref.of(edited)] = {**edited, "spec": {**edited["spec"], "webhookdefinitions": []}}
    world.settle()
    assert world.csv()["status"]["phase"] == "Installing"


def test_a_conflict_of_groups_does_not_delete_what_olm_installed() -> None:
    """csv.md 9.2: of a supported version the Deployments go."""
    owned = {"owned": [{"name": "things.example.com", "version": "v1", "kind": "Thing"}]}
    rival = a_group("rival", targets=("ns",))
    rival["metadata"] |= {"namespace": "other", "annotations": {"olm.providedAPIs": "Thing.v1.example.com"}}
    status = a_status("Succeeded", "InstallSucceeded")
    for has, is_kept in ((WEBHOOKS, True), ({}, False)):
        world = World([a_csv(status=status, customresourcedefinitions=owned, **has), a_group(), rival, a_deployment()])
        world.run("check")
        assert (DEPLOYMENT.ref("operator", "ns") in world.objects) is is_kept
