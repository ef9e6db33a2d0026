"""`kubectl exec` and `kubectl port-forward` for simulated Pods; a program that a suite starts in its place.

`exec POD -- rm|touch /tmp/www/ready`: the Pods of its Deployment fail, or do not any more. `port-forward`: leads to the
server behind a Service or a Pod through the proxy `$PEER_PROXY`, which knows both.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

FAIL = "olmf.io/fail"
PIECE = 64 * 1024


def main(words: list[str]) -> int:
    """Do what the command line says."""
    namespace = words[words.index("-n") + 1]
    if words[0] == "exec":
        return mark(words[1], namespace, is_ready=words[words.index("--") + 1] == "touch")
    target, ports = (word for word in words[1:] if word not in ("-n", namespace))
    forward(target, namespace, *(int(port) for port in ports.split(":")))
    return 0


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


def forward(target: str, namespace: str, local: int, remote: int) -> None:
    """Accept connections until it is ended."""
    kind, _, name = target.partition("/")
    place = f"{name}.{namespace}.{'svc' if kind == 'service' else 'pod'}:{remote}"
    proxy = urlsplit(os.environ["PEER_PROXY"])
    with socket.create_server(("127.0.0.1", local)) as server:
        while True:
            client, _ = server.accept()
            threading.Thread(target=lead, args=(client, (proxy.hostname, proxy.port), place), daemon=True).start()


def lead(client: socket.socket, proxy: Any, place: str) -> None:
    """Pass a connection on to a place behind the proxy."""
    with client, socket.create_connection(proxy) as there:
        there.sendall(f"CONNECT {place} HTTP/1.1\r\n\r\n".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n") and (piece := there.recv(1)):
            head += piece
        if b" 200 " in head:
            threading.Thread(target=pass_on, args=(client, there), daemon=True).start()
            pass_on(there, client)


def pass_on(source: socket.socket, target: socket.socket) -> None:
    """Copy what comes until it ends."""
    with suppress(OSError):
        while piece := source.recv(PIECE):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
