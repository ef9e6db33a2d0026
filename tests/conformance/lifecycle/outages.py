"""A world that may be hurt, and what may happen to it while operators are installed."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from eventing.workqueue import Client, connect
from shared.adapters.kube import KubeClient
from tests.conformance.api.webhooks import CONFIGURATIONS, a_webhook
from tests.conformance.control_plane import PLAIN, ControlPlane, egress
from tests.conformance.http import Api
from tests.conformance.lifecycle.samples import VERSIONS, converges, samples, subscribe
from tests.conformance.targets import REAL
from tests.kit.installation import SAMPLES, Installation, installed
from tests.kit.waiting import wait_for
from tests.kit.webhook_server import running_webhooks

SECONDS = 5.0
"""How long a fault lasts."""
ALL_KEYS = """
local found = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  table.insert(found, {key, redis.call('DUMP', key), redis.call('PEXPIRETIME', key)})
end
return found
"""
"""The content of Redis at one moment: what a replica has is never half of a script."""
LONGEST_HOOK_SECONDS = 30
"""That an API server waits for a webhook."""
FLOWS = "/apis/flowcontrol.apiserver.k8s.io/v1"


@dataclass(frozen=True)
class World:
    """What is installed, its Redis, and on a real target the control plane, which may be stopped."""

    installation: Installation
    own_redis: Client | None = None
    control_plane: ControlPlane | None = None

    @property
    def redis(self) -> Client:
        """Its Redis; there must be one to be hurt."""
        assert self.own_redis, "nobody asked for its Redis"
        return self.own_redis

    @property
    def plane(self) -> ControlPlane:
        """The control plane; there must be one."""
        assert self.control_plane, "the sandbox has none"
        return self.control_plane


Fault: TypeAlias = Callable[[World], AbstractContextManager[None]]


@contextmanager
def a_world(target: str, folder: Path) -> Iterator[World]:
    """A world that nobody else uses."""
    with ExitStack() as stack:
        if target != REAL:
            installation = stack.enter_context(installed(folder / "olmf", "--bundles", str(SAMPLES)))
            yield World(installation, stack.enter_context(connect(installation.status()["redis"])))
            return
        pods = str(folder / "pods.sock")
        plane = ControlPlane(folder, *egress(folder / "egress.yaml", pods))
        stack.callback(plane.stop)
        plane.start()
        words = ("--bundles", str(SAMPLES), "--kubeconfig", str(a_plain_login(plane, folder / "plain-kubeconfig")))
        installation = stack.enter_context(installed(folder / "olmf", *words, environ={"OLMF_POD_NETWORK": pods}))
        redis = stack.enter_context(connect(installation.status()["redis"]))
        administrator = KubeClient.from_kubeconfig(str(plane.kubeconfig))
        yield World(replace(installation, cluster=administrator), redis, plane)


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


def seconds_to_converge(
    world: World, place: str, fault: Fault, *, seconds: float = SECONDS, is_asked_before: bool | None = None
) -> float:
    """How long it takes, after a fault during which three samples were asked for, until they are installed.

    AssertionError when something is lost, made twice, or never rests.
    """
    is_asked_before = fault in ASKED_BEFORE if is_asked_before is None else is_asked_before
    installation = world.installation
    with samples(installation, place, subscribes=False) as namespace:
        if is_asked_before:
            subscribe(installation, namespace)
        with fault(world):
            if not is_asked_before:
                subscribe(installation, namespace)
            time.sleep(seconds)
        over = time.monotonic()
        for version in VERSIONS.values():
            installation.until_phase(version, namespace)
        took = time.monotonic() - over
        converges(installation, namespace)
    return took


@contextmanager
def nothing_happens(_: World) -> Iterator[None]:
    """All is as it was from the beginning."""
    yield


@contextmanager
def api_is_down(world: World) -> Iterator[None]:
    """The API server, its store and its controllers are stopped."""
    world.plane.stop()
    yield
    world.plane.start()


@contextmanager
def api_has_another_authority(world: World) -> Iterator[None]:
    """The API server is stopped, and comes back with a certificate of another authority."""
    world.plane.stop()
    yield
    world.plane.renew_keys()
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
    try:
        with tempfile.TemporaryDirectory() as folder, seat_is_taken(keeper, throttled, Path(folder)):
            wait_for(lambda: throttled.get("/api/v1/namespaces").status == 429, "the first refusal")
            yield
            answer = throttled.get("/api/v1/namespaces")
            assert answer.status == 429, "it lasted"
            assert int(answer.headers["Retry-After"]) >= 1
    finally:
        for name in ("flowschemas/a-flood", "prioritylevelconfigurations/nothing"):
            keeper.send("DELETE", f"{FLOWS}/{name}")
        wait_for(lambda: throttled.get("/api/v1/namespaces").status == 200, "the end of refusals")


@contextmanager
def seat_is_taken(keeper: Api, throttled: Api, folder: Path) -> Iterator[None]:
    """A request is under way all the time: where there is no seat at all, the API server still answers one by one."""
    is_over, has_begun = threading.Event(), threading.Event()

    def wait(_: object) -> dict[str, bool]:
        has_begun.set()
        is_over.wait(LONGEST_HOOK_SECONDS - 1)
        return {"allowed": True}

    def occupy() -> None:
        while not is_over.is_set():
            throttled.send("POST", "/api/v1/namespaces/default/configmaps?dryRun=All", {"metadata": {"name": "seat"}})

    with running_webhooks(folder / "hooks") as server:
        server.handlers["/seat"] = wait
        hook = a_webhook("seat", server.client("/seat"), "default", timeoutSeconds=LONGEST_HOOK_SECONDS)
        path = CONFIGURATIONS.format("validating")
        assert keeper.send("POST", path, {"metadata": {"name": "seat"}, "webhooks": [hook]}).status == 201
        thread = threading.Thread(target=occupy, daemon=True)
        thread.start()
        try:
            wait_for(has_begun.is_set, "the request that takes the seat")
            yield
        finally:
            is_over.set()
            thread.join()
            keeper.send("DELETE", f"{path}/seat")


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
def redis_is_emptied(world: World) -> Iterator[None]:
    """Redis forgets everything, at the end once more."""
    world.redis.flushall()
    yield
    world.redis.flushall()


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


ASKED_BEFORE = (api_is_down, api_has_another_authority)
"""Nobody can ask for anything while they last."""


def processes(installation: Installation) -> list[int]:
    """Our processes, and their children."""
    return [pid for _, pid in programs(installation)]


def programs(installation: Installation) -> list[tuple[str, int]]:
    """Name and pid of each of our processes, and of their children."""
    found = list[tuple[str, int]]()
    for process in json.loads((installation.state / "olmf.json").read_text())["processes"]:
        name, pid = process["name"], process["pid"]
        found.append((name, pid))
        with suppress(FileNotFoundError, ProcessLookupError):
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            found += [(f"child of {name}", int(child)) for child in children]
    return found


def kill(pid: int) -> bool:
    """Kill a process; whether it was still there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def is_healthy(installation: Installation) -> bool:
    """Whether every program of ours runs and answers."""
    return all(process["healthy"] for process in installation.status()["processes"])
