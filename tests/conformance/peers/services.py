"""What a cluster's DNS and kube-proxy do, for programs outside of it: an HTTP proxy that knows Services by name.

It leads to the simulated Pods, and behind the Service of a catalog to our server of catalogs. Behind a Service of a Pod
that is told to run `opm serve` it runs our own server of the same interface, with the ConfigMap that the Pod mounts.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eventing.local.ports import free_port
from shared.adapters.kube import KubeClient
from shared.api.manifest import labels_of, name_of, uid_of
from shared.api.views import ConfigMap
from shared.domain.authoring.config_map_catalog import PACKAGES, converted
from shared.kinds import CONFIG_MAP, POD, Ref
from tests.conformance.peers.catalogd import Catalogd
from tests.conformance.peers.programs import Programs
from tests.conformance.peers.stand_ins import StandIns
from tests.kit.waiting import wait_for

PIECE = 64 * 1024
LOOK_SECONDS = 0.5
SERVICES = "/api/v1/namespaces/{}/services/{}"


@dataclass
class ServiceProxy:
    """The proxy of one cluster."""

    kubeconfig: Path
    network: str
    """Socket of the kubelet's own proxy to the addresses of Pods."""
    folder: Path
    stand_ins: StandIns
    catalogd: Catalogd
    servers: dict[str, tuple[int, subprocess.Popen[bytes]]] = field(default_factory=dict)
    """Port and process of our server in place of a Pod, by its uid."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def running(self, socket: str) -> Iterator[str]:
        """Serve in a thread, also at a Unix socket; yields the proxy's URL."""
        loop, port = asyncio.new_event_loop(), free_port()
        self.cluster = KubeClient.from_kubeconfig(str(self.kubeconfig))
        self.programs = Programs(self.cluster, self.folder)
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        for start in (
            asyncio.start_server(self._serve, "127.0.0.1", port), asyncio.start_unix_server(self._serve, socket)
        ):  # fmt: skip
            asyncio.run_coroutine_threadsafe(start, loop).result()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            self.programs.close()
            self.catalogd.close()
            for _, process in self.servers.values():
                process.terminate()
                process.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            host, _, port = head.split(b" ")[1].decode().rpartition(":")
            there = await self._connected(host, int(port))
            if there is None:
                writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
            else:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await asyncio.gather(_pass_on(reader, there[1]), _pass_on(there[0], writer))
        writer.close()

    async def _connected(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        pod = await asyncio.to_thread(self._pod, host)
        if isinstance(pod, int):
            return await asyncio.open_connection("127.0.0.1", pod)
        if pod is None:
            return None
        if ours := await asyncio.to_thread(self._port, pod, port):
            return await asyncio.open_connection("127.0.0.1", ours)
        there = await asyncio.open_unix_connection(self.network)
        there[1].write(f"CONNECT {pod['status'].get('podIP')}:{port} HTTP/1.1\r\n\r\n".encode())
        return there if b" 200 " in await there[0].readuntil(b"\r\n\r\n") else None

    def _port(self, pod: Any, port: int) -> int:
        """Where a program of ours listens in place of a Pod; 0 where none does."""
        if command_of(pod)[:2] == ["opm", "serve"]:
            return self._server(pod)
        return self.catalogd.port(pod, port) or self.stand_ins.port(pod) or self.programs.port(pod, port)

    def _pod(self, host: str) -> Any:
        """A running Pod by its address, behind a Service (`<name>.<namespace>.svc`) or by name (`….pod`); None: none.

        Of a Service that is another name for our server of catalogs: its port on this machine.
        """
        if host[-1:].isdigit():
            return next((each for each in self.cluster.list(POD) if each.get("status", {}).get("podIP") == host), None)
        name, namespace = [*host.split("."), ""][:2]
        if host.endswith(".pod"):
            return self.cluster.get(POD.ref(name, namespace))
        service = self.cluster.request("GET", SERVICES.format(namespace, name))
        if (service or {}).get("spec", {}).get("type") == "ExternalName":
            return int((self.folder / "olmf" / "run" / "registry.port").read_text())
        desired = (service or {}).get("spec", {}).get("selector") or {}
        pods = self.cluster.list(POD, namespace) if desired else []
        return next((each for each in pods if _is_running(each) and desired.items() <= labels_of(each).items()), None)

    def _server(self, pod: Any) -> int:
        """The port of our server in place of a Pod."""
        with self.lock:
            if (known := self.servers.get(uid_of(pod))) and known[1].poll() is None:
                return known[0]
            folder = self.folder / "served" / uid_of(pod)
            folder.mkdir(parents=True, exist_ok=True)
            volumes = (each["configMap"]["name"] for each in pod["spec"]["volumes"] if "configMap" in each)
            found = self.cluster.get(CONFIG_MAP.ref(next(volumes), pod["metadata"]["namespace"])) or {}
            for name, text in files_of(ConfigMap(found)).items():
                (folder / name).write_text(text)
            port = free_port()
            command = [sys.executable, "-m", "eventing.cli.main", "catalog", "serve", str(folder), f"--port={port}"]
            with (self.folder / f"opm-{name_of(pod)}.log").open("ab") as log:
                self.servers[uid_of(pod)] = port, subprocess.Popen(command, stdout=log, stderr=log)
        threading.Thread(target=self._end_with, args=[pod], daemon=True).start()
        wait_for(lambda: _listens(port), f"the server in place of {name_of(pod)}")
        return port

    def _end_with(self, pod: Any) -> None:
        """End our server when its Pod has gone, as its container would."""
        while uid_of(self.cluster.get(Ref.of(pod)) or {}) == uid_of(pod):
            time.sleep(LOOK_SECONDS)
        self.servers[uid_of(pod)][1].terminate()


def files_of(content: ConfigMap) -> dict[str, str]:
    """The files of a catalog in a ConfigMap: its own, or the one file that says the same as OLM's."""
    if PACKAGES in content.texts:
        return {"catalog.json": "\n".join(map(json.dumps, converted(content).documents))}
    return {name: text for name, text in content.texts.items() if not name.startswith(".")}


def command_of(pod: Any) -> list[str]:
    """The command of the first container of a Pod."""
    container = pod["spec"]["containers"][0]
    return [*(container.get("command") or ()), *(container.get("args") or ())]


def _is_running(pod: Any) -> bool:
    return (pod.get("status") or {}).get("phase") == "Running" and not pod["metadata"].get("deletionTimestamp")


def _listens(port: int) -> bool:
    import socket

    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while piece := await reader.read(PIECE):
            writer.write(piece)
            await writer.drain()
    writer.close()
