"""Our programs and OLM v1's own, each in a cluster of its own, as what measures both sees them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from eventing.local.ports import free_port
from shared.adapters.kube import KubeClient
from tests.bench import v1_programs
from tests.bench.audit import AuditLog, Line
from tests.bench.processors import below
from tests.conformance.control_plane import running_control_plane
from tests.kit.installation import Installation, a_namespace, installed
from tests.kit.served_pods import a_node
from tests.kit.webhook_server import make_authority

OURS = "ours"
QUIET_SECONDS, TIMES = 5.0, 12
STAND_INS = ("kubelet",)
HELM = "Go-http-client/"
"""How Helm, within operator-controller, calls itself; nobody else in these clusters does."""


@dataclass(frozen=True, slots=True)
class Side:
    """Programs of one of us."""

    cluster: KubeClient
    audit: AuditLog
    agents: tuple[str, ...]
    """How they call themselves."""
    rolls_out: Sequence[int]
    """The processes that roll out."""
    programs: Sequence[int]
    """All of them."""
    authority: Path
    """Of their certificates."""
    serving: Callable[[], tuple[Sequence[int], Sequence[int]]]
    """The ports at which catalogs are served over TLS, and the processes that do it."""

    def asked_since(self) -> Callable[[], tuple[Line, ...]]:
        """What answers with their requests since now; watches are not counted."""
        lines = self.audit.lines()
        return lambda: tuple(one for one in lines() if one.agent.startswith(self.agents) and one.verb != "watch")

    def settle(self) -> None:
        """Wait until they have asked for nothing for a while; who never stops asking is waited for a minute."""
        for _ in range(TIMES):
            asked_since = self.asked_since()
            time.sleep(QUIET_SECONDS)
            if not asked_since():
                return


def peak(pids: Iterable[int]) -> int:
    """The most MiB that one of these processes, or of those below them, ever had."""
    return max(_peak(one) for pid in pids for one in (pid, *below(pid)))


@contextmanager
def running(name: str, folder: Path, checkout: Path, programs: Path, registries: Path) -> Iterator[Side]:
    """A side by its name, in a new cluster."""
    plane, network, audit = folder / "plane", str(folder / "pods.sock"), AuditLog(folder)
    plane.mkdir()
    with ExitStack() as stack:
        words = audit.server_words
        kubeconfig = stack.enter_context(running_control_plane(plane, *words, pod_network=network))
        client = KubeClient.from_kubeconfig(str(kubeconfig))
        if name == OURS:
            environ = {"OLMF_REGISTRIES_CONF": registries.read_text(), "OLMF_POD_NETWORK": network}
            words = "--kubeconfig", str(kubeconfig)
            yield _ours(
                stack, stack.enter_context(installed(folder / "state", *words, environ=environ)), audit, str(kubeconfig)
            )
            return
        for each in (a_namespace(v1_programs.NAMESPACE), *v1_programs.definitions(checkout, name)):
            client.apply(each)
        stack.enter_context(a_node(kubeconfig, network))
        theirs = stack.enter_context(v1_programs.running_theirs(name, programs, kubeconfig, registries, folder))
        agents = f"{v1_programs.CATALOGD}/", f"{v1_programs.CONTROLLER}/", HELM
        pids = theirs.catalogd, theirs.controller
        serving = [theirs.served_at], [theirs.catalogd]
        yield Side(client, audit, agents, [theirs.controller], pids, theirs.authority, lambda: serving)


def _ours(stack: ExitStack, installation: Installation, audit: AuditLog, kubeconfig: str) -> Side:
    found = {one["name"]: one["pid"] for one in installation.status()["processes"] if one["name"] not in STAND_INS}
    workers = [pid for name, pid in found.items() if name.startswith("worker")]
    agents = tuple(f"olmf/{name}" for name in ("worker", "unpack", "watch", "endpoint", "scheduler", "catalogs"))

    keys = make_authority(installation.state / "keys", "IP:127.0.0.1")

    def serving() -> tuple[Sequence[int], Sequence[int]]:
        servers = [
            stack.enter_context(_our_server(installation.state, kubeconfig, keys, f"catalogs-{one}"))
            for one in range(2)
        ]
        return [port for port, _ in servers], [pid for _, pid in servers]

    programs = list(found.values())
    return Side(installation.cluster, audit, agents, workers, programs, keys / "ca.crt", serving)


@contextmanager
def _our_server(state: Path, kubeconfig: str, keys: Path, name: str) -> Iterator[tuple[int, int]]:
    """One more process that serves what the installation serves, with TLS."""
    port, content = free_port(), state / "content"
    environ = {
        **os.environ, "OLMF_KUBECONFIG": kubeconfig, "OLMF_PORT": str(port),
        "OLMF_REGISTRY_PORT": str(free_port()), "OLMF_CONTENT": str(content),
        "OLMF_ALLOWED_REGISTRY_ADDRESSES": "127.0.0.0/8",
    }  # fmt: skip
    pair = f"--tls-cert={keys / 'server.crt'}", f"--tls-key={keys / 'server.key'}"
    command = [sys.executable, "-m", "eventing.cli.main", "run", "catalogs", *pair]
    with (state / f"{name}.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env=environ)
        try:
            yield port, server.pid
        finally:
            server.terminate()
            server.wait()


def _peak(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM:"))
