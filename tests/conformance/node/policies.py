"""Enforces NetworkPolicies on the one node with nftables: `python -m tests.conformance.node.policies KUBECONFIG`.

The plugin `bridge` enforces none. What is known: podSelector, namespaceSelector, ipBlock with except, ports by number,
range and name, both directions. The node itself may always connect to its pods, as everywhere. Rules are looked at
every half second, so for so long a new pod is not protected.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from urllib3.exceptions import HTTPError

from shared.adapters.kube import ApiError, KubeClient

LOOK_SECONDS = 0.5
TABLE = "olmf_policies"
Object = Mapping[str, Any]
INGRESS, EGRESS = ("Ingress", "ingress", "from", "saddr"), ("Egress", "egress", "to", "daddr")
"""Per direction: its policy type, its field, who is on the other side, and that side's address in a packet."""


@dataclass(frozen=True)
class World:
    """What policies are about."""

    spaces: Mapping[str, Mapping[str, str]]
    """Labels of each namespace."""
    pods: tuple[Object, ...]
    policies: tuple[Object, ...]

    @classmethod
    def of(cls, client: KubeClient) -> World:
        """What the API server says now."""

        def items(path: str) -> list[Any]:
            return list(client.request("GET", path)["items"])

        spaces = {one["metadata"]["name"]: one["metadata"].get("labels") or {} for one in items("/api/v1/namespaces")}
        pods = tuple(one for one in items("/api/v1/pods") if has_address(one))
        return cls(spaces, pods, tuple(items("/apis/networking.k8s.io/v1/networkpolicies")))


def has_address(pod: Object) -> bool:
    """Whether it runs with an address of its own."""
    status = pod.get("status") or {}
    return (
        bool(status.get("podIP")) and not pod["spec"].get("hostNetwork") and status["phase"] in ("Pending", "Running")
    )


def matches(selector: Object, labels: Mapping[str, str]) -> bool:
    """Whether labels are what a selector wants."""
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_expression_holds(one, labels) for one in selector.get("matchExpressions") or ())


def _expression_holds(one: Object, labels: Mapping[str, str]) -> bool:
    key, operator, values = one["key"], one["operator"], one.get("values") or ()
    if operator in ("Exists", "DoesNotExist"):
        return bool((key in labels) == (operator == "Exists"))
    return bool((labels.get(key) in values) == (operator == "In"))


def labels_of(pod: Object) -> Mapping[str, str]:
    found: Mapping[str, str] = pod["metadata"].get("labels") or {}
    return found


def peers(world: World, policy: Object, desired: Any, side: str) -> Iterator[tuple[str, Object | None]]:
    """How a rule begins for each peer, and the Pod that it is; nothing said means everybody."""
    if not desired:
        yield "", None
    for peer in desired or ():
        if block := peer.get("ipBlock"):
            but = ", ".join(block.get("except") or ())
            yield f"ip {side} {block['cidr']} " + (f"ip {side} != {{ {but} }} " if but else ""), None
            continue
        for pod in world.pods:
            space = pod["metadata"]["namespace"]
            is_near = space == policy["metadata"]["namespace"]
            if "namespaceSelector" in peer:
                is_near = matches(peer["namespaceSelector"], world.spaces.get(space) or {})
            if is_near and matches(peer.get("podSelector") or {}, labels_of(pod)):
                yield f"ip {side} {pod['status']['podIP']} ", pod


def ports(desired: Any, target: Object | None) -> Iterator[str]:
    """How a rule goes on for each port; those with a name are looked up in the Pod that is called."""
    if not desired:
        yield ""
    for one in desired or ():
        protocol, port = str(one.get("protocol", "TCP")).lower(), one.get("port")
        if isinstance(port, str):
            containers = target["spec"]["containers"] if target else ()
            named = [each for box in containers for each in box.get("ports") or () if each.get("name") == port]
            if not named:
                continue
            port = named[0]["containerPort"]
        last = f"-{one['endPort']}" if "endPort" in one else ""
        yield f"meta l4proto {protocol} " if port is None else f"{protocol} dport {port}{last} "


def chain(world: World, pod: Object, direction: tuple[str, str, str, str]) -> list[str] | None:
    """The rules for one Pod in one direction; None where no policy is about it."""
    kind, field, other, side = direction
    about = [
        policy
        for policy in world.policies
        if policy["metadata"]["namespace"] == pod["metadata"]["namespace"]
        and matches(policy["spec"].get("podSelector") or {}, labels_of(pod))
        and kind in policy["spec"].get("policyTypes", ["Ingress"])
    ]
    if not about:
        return None
    lines = [
        f"{peer}{port}return"
        for policy in about
        for rule in policy["spec"].get(field) or ()
        for peer, found in peers(world, policy, rule.get(other), side)
        for port in ports(rule.get("ports"), pod if kind == "Ingress" else found)
    ]
    return [*lines, "counter drop"]


def rules(world: World) -> str:
    """The table, in the language of nft."""
    chains: list[str] = []
    jumps: dict[str, list[str]] = {"saddr": [], "daddr": []}
    for pod in world.pods:
        for direction, own in ((INGRESS, "daddr"), (EGRESS, "saddr")):
            lines = chain(world, pod, direction)
            if lines is not None:
                name = f"{direction[1]}_{pod['metadata']['uid'].replace('-', '')}"
                chains.append(f"chain {name} {{ {'; '.join(lines)}; }}")
                jumps[own].append(f"{pod['status']['podIP']} : jump {name}")
    maps = {own: f"ip {own} vmap {{ {', '.join(found)} }}; " for own, found in jumps.items() if found}
    established = "ct state established,related accept; "
    hook = "type filter hook {} priority 10; " + established
    return "\n".join([
        f"table ip {TABLE}", f"delete table ip {TABLE}", f"table ip {TABLE} {{", *chains,
        f"chain forward {{ {hook.format('forward')}{maps.get('saddr', '')}{maps.get('daddr', '')}}}",
        f"chain input {{ {hook.format('input')}{maps.get('saddr', '')}}}", "}", "",
    ])  # fmt: skip


def main(kubeconfig: str) -> None:
    """Keep the table as policies say, until told to end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    client, last = KubeClient.from_kubeconfig(kubeconfig), ""
    try:
        while True:
            try:
                table = rules(World.of(client))
                if table != last:
                    subprocess.run(["nft", "-f", "-"], input=table.encode(), check=True)
                    last = table
            except (ApiError, HTTPError, OSError, subprocess.CalledProcessError) as error:
                print(error, flush=True)  # the next look may succeed; what was last written holds
            time.sleep(LOOK_SECONDS)
    finally:
        subprocess.run(["nft", "delete", "table", "ip", TABLE], capture_output=True)


if __name__ == "__main__":
    main(sys.argv[1])
