"""The API server or Redis is away, refuses or forgets while operators are installed: nothing is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from shared.adapters.kube import KubeClient
from shared.api.manifest import labels_of, resource_version_of
from shared.kinds import CLUSTER_SERVICE_VERSION, DEPLOYMENT, NAMESPACE, SUBSCRIPTION, Ref
from shared.resource_versions import is_newer
from tests.conformance.lifecycle.outages import (
    Fault,
    World,
    a_world,
    api_has_another_authority,
    api_is_down,
    api_throttles,
    redis_goes_back,
    redis_is_a_replica,
    redis_is_full,
    seconds_to_converge,
)
from tests.conformance.targets import REAL
from tests.kit.installation import a_namespace, a_subscription
from tests.kit.installation import an_operator_group as a_group
from tests.kit.waiting import wait_for

BEFORE, AFTER = "before", "after"
LATER = 300
"""Writes between a backup and its return, so that versions of then are not soon reached again."""


@pytest.fixture(scope="module", params=[pytest.param(REAL, marks=pytest.mark.conformance)])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A world that nobody else uses."""
    with a_world(request.param, tmp_path_factory.mktemp("outages")) as found:
        yield found


FAULTS = (
    pytest.param(api_is_down, id="the API server is down"),
    pytest.param(api_has_another_authority, id="the API server has another authority"),
    pytest.param(api_throttles, id="the API server throttles"),
    pytest.param(redis_is_full, id="Redis is full"),
    pytest.param(redis_is_a_replica, id="Redis accepts no writes"),
    pytest.param(redis_goes_back, id="Redis goes back"),
)


@pytest.mark.parametrize("fault", FAULTS)
def test_installs_end_after(world: World, fault: Fault, record_property: Callable[[str, object], None]) -> None:
    took = seconds_to_converge(world, fault.__name__.replace("_", "-"), fault)
    record_property("result", f"nothing is lost, {took:.1f} s")


def test_everything_goes_on_from_a_backup(world: World) -> None:
    """What came after the backup is gone, and comes when it is asked for anew; what exists is looked after."""
    installation, cluster = world.installation, world.installation.cluster
    installation.apply(a_namespace(BEFORE), a_group(BEFORE), a_subscription("tide", BEFORE))
    installation.until_phase("tide.v1.0.0", BEFORE)
    installation.until_it_rests()
    world.plane.stop()
    world.plane.back_up()
    world.plane.start()
    installation.apply(a_namespace(AFTER), a_group(AFTER), a_subscription("tide", AFTER))
    installation.until_phase("tide.v1.0.0", AFTER)
    for number in range(LATER):
        last = cluster.merge(NAMESPACE.ref(BEFORE), {"metadata": {"labels": {"number": str(number)}}})
    installation.until_it_rests()
    world.plane.stop()
    world.plane.restore()
    world.plane.start()
    # why: a client that saw later versions believes no list of before for a minute, and nobody tells this one
    installation = replace(installation, cluster=KubeClient.from_kubeconfig(str(world.plane.kubeconfig)))
    cluster = installation.cluster
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
