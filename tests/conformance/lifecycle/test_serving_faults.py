"""Our processes are killed while an operator with webhooks is installed, upgraded and removed: all of it converges."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import pytest

from shared.adapters.kube import ApiError
from shared.kinds import CLUSTER_SERVICE_VERSION, SUBSCRIPTION, Ref
from tests.conformance.lifecycle.conftest import TARGETS
from tests.conformance.lifecycle.lamps import (
    FIRST,
    NEXT,
    Lamps,
    almost_over,
    begun,
    is_gone,
    is_whole,
    stored,
    three_versions,
)
from tests.conformance.lifecycle.outages import is_healthy, kill, processes
from tests.conformance.targets import running
from tests.kit.installation import Installation
from tests.kit.waiting import wait_for

KILLS = 4


@pytest.fixture(scope="module", params=TARGETS)
def victim(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lamps]:
    """An installation that nobody else uses."""
    folder = tmp_path_factory.mktemp("killed")
    with running(request.param, folder, "--bundles", str(three_versions(folder / "bundles"))) as host:
        yield begun(host, "lampland")


def let_some_die(host: Installation) -> None:
    """One process after the other, at any instant of what has just begun; all of them at the end."""
    rng = random.Random(time.time())
    for _ in range(KILLS):
        time.sleep(rng.uniform(0.0, 0.5))
        kill(rng.choice(processes(host)))
    died = set(processes(host))
    for pid in died:
        kill(pid)
    wait_for(lambda: died.isdisjoint(processes(host)) and is_healthy(host), "others in their places")


def converges(lamps: Lamps, version: str) -> None:
    """One version works, everything that it serves answers, and nothing is there twice."""
    lamps.host.until_phase(lamps.ref(version).name, lamps.namespace)
    wait_for(lambda: is_there_alone(lamps, version), f"{version} alone")
    wait_for(lambda: is_whole(lamps), "everything that it serves")
    lamps.host.until_it_rests()
    assert is_whole(lamps)
    assert lamps.host.olmf("queue", "dead", "-o", "json").stdout.strip() == "[]"


def is_there_alone(lamps: Lamps, version: str) -> bool:
    found = lamps.host.cluster.list(CLUSTER_SERVICE_VERSION, lamps.namespace)
    return [one["metadata"]["name"] for one in found] == [lamps.ref(version).name]


def delete(lamps: Lamps, ref: Ref) -> None:
    try:
        lamps.host.cluster.delete(ref)
    except ApiError as error:
        if not error.is_not_found:
            raise


def test_processes_die_while_webhooks_come_change_hands_and_go(victim: Lamps) -> None:
    """csv.md 3.1, 4.7, 6.1, 7.8: certificates, Services, conversion and APIService take part in each of the three.

    The first certificate ends soon, so that a rotation begins as soon as the operator works.
    """
    old = almost_over(victim.host, victim.namespace)
    victim.begin(FIRST)
    let_some_die(victim.host)
    wait_for(lambda: stored(victim).is_rotating or stored(victim).pair.authority != old, "the begin of the rotation")
    let_some_die(victim.host)
    converges(victim, FIRST)
    assert (stored(victim).is_rotating, stored(victim).pair.authority == old) == (False, False)
    victim.begin(NEXT)
    let_some_die(victim.host)
    converges(victim, NEXT)
    for ref in (SUBSCRIPTION.ref("lamps", victim.namespace), victim.ref(NEXT)):
        delete(victim, ref)
    let_some_die(victim.host)
    victim.host.until_gone(victim.ref(NEXT))
    wait_for(lambda: is_gone(victim), "the end of all that led to it")
    victim.host.until_it_rests()
    assert is_gone(victim)
