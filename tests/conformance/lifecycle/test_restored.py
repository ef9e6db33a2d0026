"""The API server is restored from a backup: resourceVersions go back, and what came after the backup never was."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shared.api.manifest import labels_of, resource_version_of
from shared.kinds import CLUSTER_SERVICE_VERSION, DEPLOYMENT, NAMESPACE, SUBSCRIPTION, Ref
from shared.resource_versions import is_newer
from tests.conformance.control_plane import ControlPlane
from tests.conformance.targets import REAL
from tests.kit.installation import SAMPLES, Installation, a_namespace, a_subscription, installed
from tests.kit.installation import an_operator_group as a_group
from tests.kit.waiting import wait_for

BEFORE, AFTER = "before", "after"
LATER = 300
"""Writes between the backup and its return, so that versions of then are not soon reached again."""


@pytest.fixture(scope="module", params=[pytest.param(REAL, marks=pytest.mark.conformance)])
def plane(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane that the test stops and starts."""
    assert request.param == REAL
    found = ControlPlane(tmp_path_factory.mktemp("restored"))
    try:
        found.start()
        yield found
    finally:
        found.stop()


@pytest.fixture(scope="module")
def installation(plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """What works on it."""
    words = ("--bundles", str(SAMPLES), "--kubeconfig", str(plane.kubeconfig))
    with installed(tmp_path_factory.mktemp("restored-olmf") / "olmf", *words) as found:
        yield found


def test_everything_goes_on_from_a_backup(plane: ControlPlane, installation: Installation) -> None:
    """What was half done at the backup is done again; what came later is gone, and comes when it is asked for anew."""
    cluster = installation.cluster
    installation.apply(a_namespace(BEFORE), a_group(BEFORE), a_subscription("tide", BEFORE))
    installation.until_phase("tide.v1.0.0", BEFORE)
    installation.until_it_rests()
    plane.stop()
    plane.back_up()
    plane.start()
    installation.apply(a_namespace(AFTER), a_group(AFTER), a_subscription("tide", AFTER))
    installation.until_phase("tide.v1.0.0", AFTER)
    for number in range(LATER):
        last = cluster.merge(NAMESPACE.ref(BEFORE), {"metadata": {"labels": {"number": str(number)}}})
    installation.until_it_rests()
    plane.stop()
    plane.restore()
    plane.start()
    wait_for(lambda: labels_of(cluster.get(NAMESPACE.ref(BEFORE)) or {}).get("number") is None)
    installation.apply(a_subscription("beacon", BEFORE))
    installation.until_phase("beacon.v1.1.0", BEFORE)
    again = cluster.get(SUBSCRIPTION.ref("beacon", BEFORE)) or {}
    assert is_newer(resource_version_of(last), resource_version_of(again)), "versions are told a second time"
    assert not cluster.list(CLUSTER_SERVICE_VERSION, AFTER)
    cluster.delete(DEPLOYMENT.ref("tide-controller", BEFORE))
    installation.until(DEPLOYMENT.ref("tide-controller", BEFORE), bool)
    installation.apply(a_namespace(AFTER), a_group(AFTER), a_subscription("tide", AFTER))
    installation.until_phase("tide.v1.0.0", AFTER)
    cluster.delete(Ref.of(cluster.get(CLUSTER_SERVICE_VERSION.ref("tide.v1.0.0", AFTER)) or {}))
    installation.until_gone(DEPLOYMENT.ref("tide-controller", AFTER))
    installation.until_it_rests()
