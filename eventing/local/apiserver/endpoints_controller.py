"""The controller that keeps the Endpoints of Services that select Pods."""

from __future__ import annotations

from collections.abc import Iterator

from eventing.local.apiserver.endpoints import SERVICES, TABLE
from eventing.local.apiserver.store import Change, Stored
from eventing.local.apiserver.world import World
from shared.api.manifest import Manifest, ReadOnly, is_deleted, labels_of, name_of, uid_of

PODS = "/pods"


def follow(change: Change, world: World) -> None:
    """Update the Endpoints of the Services that a change concerns."""
    table, namespace, name = change.now.key
    if table == SERVICES:
        if change.type == "DELETED":
            if world.store.get((TABLE, namespace, name)) and (change.now.manifest["spec"].get("selector")):
                world.store.remove((TABLE, namespace, name))
        elif service := world.store.get(change.now.key):
            _update(service, world)
    elif table == PODS:
        labels = [labels_of(one.manifest) for one in (change.now, change.before) if one]
        for service in world.store.list(SERVICES, namespace):
            selector = service.manifest["spec"].get("selector")
            if selector and any(selector.items() <= found.items() for found in labels):
                _update(service, world)


def _update(service: Stored, world: World) -> None:
    selector, key = service.manifest["spec"].get("selector"), (TABLE, *service.key[1:])
    if not selector:
        return
    present = world.store.get(key)
    subsets = _subsets(service.manifest, [*_pods(service, world)])
    if present is None:
        made = world.new_object("v1", "Endpoints", service.key[2], service.key[1])
        world.store.put(key, {**made, **subsets})
    elif (present.manifest.get("subsets") or []) != subsets.get("subsets", []):
        kept = {name: value for name, value in present.copy().items() if name != "subsets"}
        world.store.put(key, {**kept, **subsets})


def _pods(service: Stored, world: World) -> Iterator[ReadOnly]:
    """The Pods of a Service that have an address and have not ended."""
    selector = service.manifest["spec"]["selector"]
    for pod in world.store.list(PODS, service.key[1]):
        status = pod.manifest.get("status") or {}
        if selector.items() <= labels_of(pod.manifest).items() and status.get("podIP") and not is_deleted(pod.manifest):
            yield pod.manifest


def _subsets(service: ReadOnly, pods: list[ReadOnly]) -> Manifest:
    ports = service["spec"].get("ports") or ()
    found = [
        {"addresses": [_address(pod)], "ports": [_port(port, pod) for port in ports]} for pod in pods if _is_ready(pod)
    ]
    return {"subsets": found} if found else {}


def _is_ready(pod: ReadOnly) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)


def _address(pod: ReadOnly) -> Manifest:
    target = {"kind": "Pod", "namespace": pod["metadata"]["namespace"], "name": name_of(pod), "uid": uid_of(pod)}
    return {"ip": pod["status"]["podIP"], "nodeName": pod["spec"].get("nodeName", ""), "targetRef": target}


def _port(port: ReadOnly, pod: ReadOnly) -> Manifest:
    name = {"name": port["name"]} if port.get("name") else {}
    return {**name, "port": _number(port, pod), "protocol": port.get("protocol", "TCP")}


def _number(port: ReadOnly, pod: ReadOnly) -> int:
    """The port of the container; one that is named is looked up."""
    target = port.get("targetPort", port["port"])
    if isinstance(target, int):
        return target
    named = (one for each in pod["spec"].get("containers") or () for one in each.get("ports") or ())
    return int(next((one["containerPort"] for one in named if one.get("name") == target), port["port"]))
