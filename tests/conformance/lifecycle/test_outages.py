"""The API server or Redis is away, refuses or forgets while operators are installed: nothing is lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml

from eventing.workqueue import Client, connect
from shared.adapters.kube import KubeClient
from shared.api.manifest import labels_of, resource_version_of
from shared.kinds import CLUSTER_SERVICE_VERSION, DEPLOYMENT, NAMESPACE, SUBSCRIPTION, Ref
from shared.resource_versions import is_newer
from tests.conformance.control_plane import PLAIN, ControlPlane, egress
from tests.conformance.http import Api
from tests.conformance.lifecycle.samples import VERSIONS, converges, samples, subscribe
from tests.conformance.targets import REAL
from tests.kit.installation import SAMPLES, Installation, a_namespace, a_subscription, installed
from tests.kit.installation import an_operator_group as a_group
from tests.kit.waiting import wait_for

SECONDS = 5.0
"""How long a fault lasts."""
BEFORE, AFTER = "before", "after"
LATER = 300
"""Writes between a backup and its return, so that versions of then are not soon reached again."""
ALL_KEYS = """
local found = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  table.insert(found, {key, redis.call('DUMP', key), redis.call('PEXPIRETIME', key)})
end
return found
"""
"""The content of Redis at one moment: what a replica has is never half of a script."""
FLOWS = "/apis/flowcontrol.apiserver.k8s.io/v1"


@dataclass(frozen=True)
class World:
    """A control plane that may be stopped, and what works on it."""

    plane: ControlPlane
    installation: Installation
    redis: Client


Fault: TypeAlias = Callable[[World], AbstractContextManager[None]]


@pytest.fixture(scope="module", params=[pytest.param(REAL, marks=pytest.mark.conformance)])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A world that nobody else uses."""
    assert request.param == REAL
    folder, pods = tmp_path_factory.mktemp("outages"), str(tmp_path_factory.mktemp("pods") / "pods.sock")
    plane = ControlPlane(folder, *egress(folder / "egress.yaml", pods))
    try:
        plane.start()
        words = ("--bundles", str(SAMPLES), "--kubeconfig", str(a_plain_login(plane, folder / "plain-kubeconfig")))
        with (
            installed(folder / "olmf", *words, environ={"OLMF_POD_NETWORK": pods}) as installation,
            connect(installation.status()["redis"]) as redis,
        ):
            yield World(plane, replace(installation, cluster=KubeClient.from_kubeconfig(str(plane.kubeconfig))), redis)
    finally:
        plane.stop()


def a_plain_login(plane: ControlPlane, path: Path) -> Path:
    """A kubeconfig of a user who may everything, and to whom the limits of the API server apply."""
    rules = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": PLAIN}
    binding = {"metadata": {"name": PLAIN}, "roleRef": rules, "subjects": [subject]}
    path_of_bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
    assert Api.of(plane.kubeconfig).send("POST", path_of_bindings, binding).status == 201
    config = yaml.safe_load(plane.kubeconfig.read_text())
    config["users"][0]["user"]["token"] = PLAIN
    path.write_text(yaml.safe_dump(config))
    return path


@contextmanager
def api_is_down(world: World) -> Iterator[None]:
    """The API server, its store and its controllers are stopped."""
    world.plane.stop()
    yield
    world.plane.start()


@contextmanager
def api_throttles(world: World) -> Iterator[None]:
    """Whatever we ask is answered with 429 and `Retry-After`, by API Priority and Fairness."""
    keeper = Api.of(world.plane.kubeconfig)
    limited = {"nominalConcurrencyShares": 0, "borrowingLimitPercent": 0, "limitResponse": {"type": "Reject"}}
    level = {"metadata": {"name": "nothing"}, "spec": {"type": "Limited", "limited": limited}}
    everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}
    schema = {"metadata": {"name": "a-flood"}, "spec": {
        "matchingPrecedence": 2, "priorityLevelConfiguration": {"name": "nothing"},
        "rules": [{"subjects": [{"kind": "User", "user": {"name": PLAIN}}], "resourceRules": [everything]}],
    }}  # fmt: skip
    for plural, manifest in (("prioritylevelconfigurations", level), ("flowschemas", schema)):
        assert keeper.send("POST", f"{FLOWS}/{plural}", manifest).status == 201
    throttled = keeper.as_user(PLAIN)
    wait_for(lambda: throttled.get("/api/v1/namespaces").status == 429, "the first refusal")
    yield
    assert throttled.get("/api/v1/namespaces").status == 429, "it lasted"
    for name in ("flowschemas/a-flood", "prioritylevelconfigurations/nothing"):
        assert keeper.send("DELETE", f"{FLOWS}/{name}").status == 200
    wait_for(lambda: throttled.get("/api/v1/namespaces").status == 200, "the end of refusals")


@contextmanager
def redis_is_full(world: World) -> Iterator[None]:
    """Redis has no memory for anything that is added."""
    world.redis.config_set("maxmemory-policy", "noeviction")
    world.redis.config_set("maxmemory", 1)
    yield
    world.redis.config_set("maxmemory", 0)


@contextmanager
def redis_is_a_replica(world: World) -> Iterator[None]:
    """Redis accepts no writes, and its master does not answer."""
    world.redis.slaveof("127.0.0.1", 1)
    yield
    world.redis.slaveof()


@contextmanager
def redis_goes_back(world: World) -> Iterator[None]:
    """Redis has the content of a while ago: what a replica is given that was behind, and becomes the master."""
    kept: Any = world.redis.eval(ALL_KEYS, 0)
    yield
    world.redis.slaveof("127.0.0.1", 1)
    world.redis.slaveof()
    with world.redis.pipeline(transaction=True) as pipe:
        pipe.flushall()
        for key, content, until in kept:
            pipe.restore(key, max(until, 0), content, absttl=until > 0)
        pipe.execute()


FAULTS = (
    pytest.param(api_is_down, id="the API server is down"),
    pytest.param(api_throttles, id="the API server throttles"),
    pytest.param(redis_is_full, id="Redis is full"),
    pytest.param(redis_is_a_replica, id="Redis accepts no writes"),
    pytest.param(redis_goes_back, id="Redis goes back"),
)


@pytest.mark.parametrize("fault", FAULTS)
def test_installs_end_after(world: World, fault: Fault, record_property: Callable[[str, object], None]) -> None:
    installation = world.installation
    with samples(installation, fault.__name__.replace("_", "-"), subscribes=False) as place:
        if fault is api_is_down:
            subscribe(installation, place)
        with fault(world):
            if fault is not api_is_down:
                subscribe(installation, place)
            time.sleep(SECONDS)
        over = time.monotonic()
        for version in VERSIONS.values():
            installation.until_phase(version, place)
        record_property("result", f"nothing is lost, {time.monotonic() - over:.1f} s")
        converges(installation, place)


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
