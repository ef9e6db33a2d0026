"""Whatever dies, is forgotten or deleted during installs: it converges, makes nothing twice, and rests."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator

import pytest

from eventing.workqueue import connect
from shared import names
from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest, name_of
from shared.kinds import (
    CLUSTER_ROLE,
    CLUSTER_SERVICE_VERSION,
    CONFIG_MAP,
    DEPLOYMENT,
    INSTALL_PLAN,
    JOB,
    OPERATOR_CONDITION,
    OPERATOR_GROUP,
    ROLE,
    ROLE_BINDING,
    SERVICE_ACCOUNT,
    Kind,
    Ref,
)
from tests.conformance.faults.killing import is_survived, kill_seconds
from tests.conformance.faults.programs import victims_of
from tests.conformance.lifecycle.conftest import TARGETS
from tests.conformance.lifecycle.outages import World, is_healthy, kill, processes, programs
from tests.conformance.lifecycle.samples import VERSIONS, converges, samples
from tests.conformance.targets import running
from tests.kit.installation import SAMPLES, Installation
from tests.kit.waiting import wait_for

KILL_SECONDS = 9.0
"""With `OLMF_KILL_SECONDS` it is as long as that says."""


@pytest.fixture(scope="module", params=TARGETS)
def victim(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """An installation that nobody else uses: its processes are killed."""
    with running(request.param, tmp_path_factory.mktemp("faults"), "--bundles", str(SAMPLES)) as found:
        yield found


@pytest.fixture
def place(victim: Installation, request: pytest.FixtureRequest) -> Iterator[str]:
    """Where the samples of one test begin to be installed."""
    name = str(request.node.originalname).removeprefix("test_").replace("_", "-")[:40].strip("-")
    with samples(victim, name) as made:
        yield made


@pytest.fixture(scope="class")
def grown(victim: Installation) -> Iterator[str]:
    """Where the samples are installed and rest, for all cases of a class."""
    with samples(victim, "grown") as made:
        converges(victim, made)
        yield made


def delete(victim: Installation, kind: Kind, namespace: str) -> None:
    """Delete all of a kind; what somebody else deleted in between is gone, too."""
    for each in victim.cluster.list(kind, namespace):
        try:
            victim.cluster.delete(Ref.of(each))
        except ApiError as error:
            if not error.is_not_found:
                raise


def test_processes_die_at_random_while_operators_come_and_go(
    victim: Installation, record_property: Callable[[str, object], None]
) -> None:
    seconds = kill_seconds(default=KILL_SECONDS)
    record_property("result", is_survived(victims_of(World(victim)), seconds))


def test_all_processes_die_at_once(victim: Installation, place: str) -> None:
    victim.until(CLUSTER_SERVICE_VERSION.ref("tide.v1.0.0", place), bool)
    for pid in processes(victim):
        kill(pid)
    wait_for(lambda: is_healthy(victim))
    converges(victim, place)


def test_a_group_that_goes_while_no_watcher_runs_leaves_no_role(victim: Installation, place: str) -> None:
    """Its roles have no owner that Kubernetes would follow; an audit, five minutes later, is not waited for."""

    def roles() -> list[str]:
        owner = {names.OWNER_KIND: OPERATOR_GROUP.kind, names.OWNER_NAMESPACE: place}
        return [name_of(each) for each in victim.cluster.list(CLUSTER_ROLE, labels=owner)]

    converges(victim, place)
    assert roles()
    [watcher] = [pid for name, pid in programs(victim) if name == "watch"]
    os.kill(watcher, signal.SIGSTOP)
    delete(victim, OPERATOR_GROUP, place)
    kill(watcher)
    wait_for(lambda: not roles(), "the end of its roles")


def test_redis_forgets_everything_in_mid_flow(victim: Installation, place: str) -> None:
    client = connect(victim.status()["redis"])
    for version in VERSIONS.values():
        client.flushall()
        victim.until(CLUSTER_SERVICE_VERSION.ref(version, place), bool)
    client.flushall()
    client.close()
    converges(victim, place)


def is_of_a_version(manifest: Manifest) -> bool:
    owners = manifest["metadata"].get("ownerReferences") or ()
    return any(owner["kind"] == CLUSTER_SERVICE_VERSION.kind for owner in owners)


def what_it_gives(role: Manifest) -> object:
    """The rules, or how they are gathered."""
    return role.get("aggregationRule") or role.get("rules")


class TestAtRest:
    @pytest.mark.parametrize(
        "kind", [DEPLOYMENT, OPERATOR_CONDITION, SERVICE_ACCOUNT, ROLE, ROLE_BINDING], ids=lambda kind: str(kind.kind)
    )
    def test_what_is_deleted_comes_back(self, victim: Installation, grown: str, kind: Kind) -> None:
        gone = [Ref.of(each) for each in victim.cluster.list(kind, grown) if is_of_a_version(each)]
        assert gone
        for ref in gone:
            victim.cluster.delete(ref)
        for ref in gone:
            victim.until(ref, bool)
        converges(victim, grown)

    @pytest.mark.parametrize("is_deleted", [True, False], ids=["deleted", "edited"])
    def test_cluster_roles_of_groups_apis_and_operators_come_back(
        self, victim: Installation, grown: str, is_deleted: bool
    ) -> None:
        """csv.md 8.7, 8.8, 8.9."""
        found = victim.cluster.list(CLUSTER_ROLE, labels={names.MANAGED: "true"})
        ours = [each for each in found if is_deleted or not name_of(each).startswith("ledger")]  # made by its plan
        roles = {Ref.of(each): what_it_gives(each) for each in ours if what_it_gives(each)}
        assert {"beacons.samples.olmf.io-v1-admin", "beacons.samples.olmf.io-v1-crdview"} <= {ref.name for ref in roles}
        for ref in roles:
            if is_deleted:
                victim.cluster.delete(ref)
            else:
                victim.cluster.merge(ref, {"aggregationRule": None, "rules": []})
        for ref, arguments in roles.items():
            victim.until(ref, lambda role, arguments=arguments: what_it_gives(role) == arguments, str(arguments))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
        converges(victim, grown)


def test_the_unpacked_bundles_and_their_jobs_are_deleted_at_any_time(victim: Installation, place: str) -> None:
    deadline = time.monotonic() + 1.0
    while time.monotonic() < deadline:
        for kind in (CONFIG_MAP, JOB, ROLE):
            delete(victim, kind, "olm")
    converges(victim, place)


def test_plans_are_deleted_at_any_time(victim: Installation, place: str) -> None:
    deadline = time.monotonic() + 1.0
    while time.monotonic() < deadline:
        delete(victim, INSTALL_PLAN, place)
    converges(victim, place)
