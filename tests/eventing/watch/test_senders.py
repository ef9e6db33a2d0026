"""Pods that bring events are back when they are ready again; not when somebody first sees them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from eventing.watch.senders import ADAPTERS, Returns, follow
from shared.adapters.kube import KubeClient
from shared.api.manifest import Manifest
from shared.kinds import NAMESPACE
from tests.kit.sandbox import running_sandbox
from tests.kit.waiting import PATIENCE_SECONDS


def a_pod(name: str = "ingress", *, uid: str = "1", ready: str = "10:00") -> Manifest:
    status = [{"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": ready}]
    return {"metadata": {"name": name, "namespace": "ns", "uid": uid}, "status": {"conditions": status}}


def test_a_pod_comes_back_when_it_is_ready_again() -> None:
    returns = Returns()
    listed: set[tuple[str, str]] = set()
    assert returns.page([a_pod()], listed) == () == returns.settle(listed), "it was there"
    assert returns.observe("MODIFIED", a_pod()) == ()
    assert returns.observe("MODIFIED", a_pod(ready="")) == (), "its container ended"
    assert returns.observe("MODIFIED", a_pod(ready="10:05")) == ("ingress",)
    assert returns.observe("DELETED", a_pod(ready="10:05")) == ()
    assert returns.observe("ADDED", a_pod("ingress-2", uid="2")) == ("ingress-2",)


def test_what_came_back_unseen_is_found_by_the_next_list() -> None:
    returns = Returns()
    for pods, expected in (([a_pod()], ()), ([a_pod(uid="2")], ("ingress",)), ([a_pod(uid="2")], ()), ([], ())):
        listed: set[tuple[str, str]] = set()
        assert tuple(returns.page(pods, listed)) == expected
        returns.settle(listed)
    assert returns.observe("ADDED", a_pod(uid="2")) == ("ingress",), "it was away when the last list was made"


def make_ready(client: KubeClient, namespace: str, name: str, **labels: str) -> None:
    meta = {"name": name, "namespace": namespace, "labels": labels}
    spec = {"containers": [{"name": "one", "image": "one"}]}
    made = client.apply({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
    is_ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    client.replace_status({**made, "status": {"conditions": [is_ready]}})


def make_all_ready(kubeconfig: Path) -> None:
    client = KubeClient.from_kubeconfig(str(kubeconfig))
    label = {ADAPTERS: "olmf"}
    make_ready(client, "ours", "worker")
    make_ready(client, "default", "other", **label)
    make_ready(client, "ours", "adapter", **label)
    make_ready(client, "brokers", "ingress")


async def followed(kubeconfig: Path) -> list[str]:
    """The first two that come back."""
    client, reported, is_over = KubeClient.from_kubeconfig(str(kubeconfig)), list[str](), asyncio.Event()
    for name in ("ours", "brokers"):
        client.apply({"apiVersion": "v1", "kind": NAMESPACE.kind, "metadata": {"name": name}})

    def back(which: str) -> None:
        reported.append(which)
        if len(reported) == 2:
            is_over.set()

    follows = asyncio.create_task(follow(client.connection, "ours", "brokers", back))
    await asyncio.sleep(1)  # the first list tells of nothing
    await asyncio.to_thread(make_all_ready, kubeconfig)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await is_over.wait()
    follows.cancel()
    await asyncio.gather(follows, return_exceptions=True)
    return sorted(reported)


def test_both_namespaces_are_followed_and_of_ours_the_adapters_alone(tmp_path: Path) -> None:
    with running_sandbox(tmp_path) as kubeconfig:
        assert asyncio.run(followed(kubeconfig)) == ["adapter", "ingress"]
