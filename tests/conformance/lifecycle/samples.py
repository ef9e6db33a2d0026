"""Three sample operators in a namespace: installed, looked at, and gone again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from shared import names
from shared.api.manifest import labels_of, name_of, namespace_of
from shared.kinds import (
    CLUSTER_SERVICE_VERSION,
    CONFIG_MAP,
    DEPLOYMENT,
    INSTALL_PLAN,
    JOB,
    OPERATOR_GROUP,
    SUBSCRIPTION,
    Ref,
)
from tests.kit.installation import Installation, a_namespace, a_subscription
from tests.kit.installation import an_operator_group as a_group
from tests.kit.waiting import wait_for

VERSIONS = {"tide": "tide.v1.0.0", "beacon": "beacon.v1.1.0", "ledger": "ledger.v2.1.0"}
"""The newest version of each package."""


def subscribe(victim: Installation, place: str) -> None:
    """Ask for the three samples."""
    victim.apply(*(a_subscription(package, place) for package in VERSIONS))


@contextmanager
def samples(victim: Installation, name: str, *, subscribes: bool = True) -> Iterator[str]:
    """A namespace with a group and Subscriptions to the three samples, just made; all of it goes at the end."""
    victim.apply(a_namespace(name), a_group(name))
    if subscribes:
        subscribe(victim, name)
    yield name
    for kind in (SUBSCRIPTION, CLUSTER_SERVICE_VERSION, OPERATOR_GROUP):
        for each in victim.cluster.list(kind, name):
            victim.cluster.delete(Ref.of(each))
    for version in VERSIONS.values():
        victim.until_gone(CLUSTER_SERVICE_VERSION.ref(version, name))
    # The next case has the same namespace, and garbage collection takes its time to follow the Subscriptions.
    for plan in victim.cluster.list(INSTALL_PLAN, name):
        victim.until_gone(Ref.of(plan))


def converges(victim: Installation, place: str) -> None:
    """Every sample works at its newest version, and there is one of everything."""
    for version in VERSIONS.values():
        victim.until_phase(version, place)
    wait_for(lambda: originals(victim, place) == sorted(VERSIONS.values()), "the end of replaced versions")
    victim.until_it_rests()
    assert originals(victim, place) == sorted(VERSIONS.values())
    deployments = [name_of(each) for each in victim.cluster.list(DEPLOYMENT, place)]
    assert sorted(deployments) == [f"{package}-controller" for package in sorted(VERSIONS)]
    plans = [tuple(each["spec"]["clusterServiceVersionNames"]) for each in victim.cluster.list(INSTALL_PLAN, place)]
    assert len(plans) == len(set(plans)), plans
    jobs = victim.cluster.list(JOB, "olm")
    maps = {(namespace_of(each), name_of(each)) for each in victim.cluster.list(CONFIG_MAP, "olm")}
    assert all((namespace_of(job), name_of(job)) in maps for job in jobs), "a Job without its ConfigMap"
    assert victim.olmf("queue", "dead", "-o", "json").stdout.strip() == "[]"


def originals(victim: Installation, place: str) -> list[str]:
    """The versions that are no copies."""
    found = victim.cluster.list(CLUSTER_SERVICE_VERSION, place)
    return sorted(name_of(each) for each in found if names.COPIED_FROM not in labels_of(each))
