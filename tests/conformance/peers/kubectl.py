"""`kubectl exec` and `kubectl port-forward` for simulated Pods; a program that a suite starts in its place.

`exec POD -- rm|touch /tmp/www/ready`: the Pods of its Deployment fail, or do not any more. `port-forward`: leads to the
server behind a Service or a Pod through the proxy `$PEER_PROXY`, which knows both, or to our registry.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

FAIL = "olmf.io/fail"
PIECE = 64 * 1024
LOOK_SECONDS = 0.5
REGISTRY = "registry"
"""The Pod of OLM's suite in whose place `$PEER_REGISTRY` is."""


def main(words: list[str]) -> int:
    """Do what the command line says."""
    namespace = words[words.index("-n") + 1]
    verb, *others = (word for word in words if word not in ("-n", namespace))
    if verb == "exec":
        return mark(others[0], namespace, is_ready=others[others.index("--") + 1] == "touch")
    target, ports = others
    local, remote = (int(port) for port in ports.split(":"))
    threading.Thread(target=end_with, args=[os.getppid()], daemon=True).start()
    if target == REGISTRY:
        forward(local, _address(f"//{os.environ['PEER_REGISTRY']}"), "")
    kind, _, name = target.partition("/")
    place = f"{name}.{namespace}.{'svc' if kind == 'service' else 'pod'}:{remote}"
    forward(local, _address(os.environ["PEER_PROXY"]), place)
    return 0


def _address(url: str) -> tuple[str, int]:
    found = urlsplit(url)
    return str(found.hostname), int(found.port or 0)


def end_with(parent: int) -> None:
    """End when the program that started us has ended: some wait for the end of the Pod, which closes nothing here."""
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os._exit(0)


def mark(pod: str, namespace: str, *, is_ready: bool) -> int:
    """Let the Pods of a Deployment fail, or not any more."""
    from shared.adapters.kube import KubeClient
    from shared.kinds import DEPLOYMENT, POD, Kind

    cluster = KubeClient.from_kubeconfig(os.environ["KUBECONFIG"])
    owned: Any = cluster.get(POD.ref(pod, namespace))
    replicas = Kind("apps/v1", "ReplicaSet", "replicasets").ref(
        owned["metadata"]["ownerReferences"][0]["name"], namespace
    )
    owner: Any = cluster.get(replicas)
    deployment = DEPLOYMENT.ref(owner["metadata"]["ownerReferences"][0]["name"], namespace)
    message = None if is_ready else "its readiness file was removed"
    cluster.merge(deployment, {"metadata": {"annotations": {FAIL: message}}})
    return 0


def forward(port: int, address: tuple[str, int], place: str) -> None:
    """Accept connections until it is ended."""
    with socket.create_server(("127.0.0.1", port)) as server:
        while True:
            client, _ = server.accept()
            threading.Thread(target=lead, args=(client, address, place), daemon=True).start()


def lead(client: socket.socket, address: tuple[str, int], place: str) -> None:
    """Pass a connection on to an address, or to a place behind the proxy there."""
    with client, socket.create_connection(address) as there:
        if not place or _is_connected(there, place):
            threading.Thread(target=pass_on, args=(client, there), daemon=True).start()
            pass_on(there, client)


def _is_connected(there: socket.socket, place: str) -> bool:
    there.sendall(f"CONNECT {place} HTTP/1.1\r\n\r\n".encode())
    head = b""
    while not head.endswith(b"\r\n\r\n") and (piece := there.recv(1)):
        head += piece
    return b" 200 " in head


def pass_on(source: socket.socket, target: socket.socket) -> None:
    """Copy what comes until it ends."""
    with suppress(OSError):
        while piece := source.recv(PIECE):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
