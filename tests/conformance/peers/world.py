"""The cluster in which a peer's suite runs: a real control plane, our simulated node and our programs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from shared.adapters.kube import KubeClient
from tests.conformance.peers.catalogd import Catalogd
from tests.conformance.peers.images import registries_conf
from tests.conformance.peers.services import ServiceProxy
from tests.conformance.peers.stand_ins import StandIns
from tests.conformance.targets import REAL, running_cluster
from tests.kit.installation import installed

OLM_NAMESPACE = "olm"
STATE = "world.json"


@dataclass(frozen=True, slots=True)
class World:
    """Where a suite finds the cluster."""

    kubeconfig: str
    registry: str
    """Host and port of the registry that holds the images."""
    proxy: str
    """URL of the proxy that knows Services and Pods."""


@dataclass
class Programs:
    """Our programs in one cluster."""

    state: Path
    words: tuple[str, ...]
    environ: dict[str, str]
    present: ExitStack = field(default_factory=ExitStack)

    def start(self) -> None:
        """Start them, with the code of this moment."""
        self.present.enter_context(installed(self.state, *self.words, environ=self.environ))

    def restart(self) -> None:
        """End them and start them."""
        self.present.close()
        self.start()


def found(folder: Path) -> list[World]:
    """The worlds that somebody keeps running there."""
    return [World(**json.loads(state.read_text())) for state in sorted(folder.glob(f"*/{STATE}"))]


@contextmanager
def running(
    folder: Path,
    registry: str,
    hosts: Mapping[str, str],
    apps: tuple[str, ...],
    prepare: Callable[[KubeClient], AbstractContextManager[None]],
) -> Iterator[tuple[World, Programs]]:
    """Start everything; yields when the suite may begin. `hosts` are prefixes of images that the registry has."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        network, kubelet = str(folder / "pods.sock"), str(folder / "kubelet.sock")
        kubeconfig = stack.enter_context(running_cluster(REAL, folder, pod_network=network))
        rules = {"OLMF_REGISTRIES_CONF": registries_conf(hosts, registry)}
        catalogd = Catalogd(folder, kubeconfig, rules)
        proxied = ServiceProxy(kubeconfig, kubelet, folder, StandIns(folder / "olmf", apps), catalogd)
        proxy = stack.enter_context(proxied.running(network))
        environ = {
            **rules, "OLMF_POD_NETWORK": kubelet, "GRPC_PROXY": proxy, "grpc_proxy": proxy, "no_proxy": "127.0.0.1",
            "OLMF_CATALOGS_ADDRESS": "localhost:50051",
            "OLMF_EXECUTE_FOREIGN_PLANS": "true", "OLMF_LIFT_FOREIGN_ROLES": "true", "OLMF_GRANT_CLAIMED_APIS": "true",
            "OLMF_CATALOG_POLICY": "strict", "OLMF_CRD_SAFETY": "step", "OLMF_BUNDLE_KINDS": "Deprecated",
        }  # fmt: skip
        programs = Programs(folder / "olmf", ("--kubeconfig", str(kubeconfig), "--take-over"), environ)
        stack.callback(lambda: programs.present.close())
        programs.start()
        stack.enter_context(prepare(KubeClient.from_kubeconfig(str(kubeconfig))))
        world = World(str(kubeconfig), registry, proxy)
        (folder / STATE).write_text(json.dumps(asdict(world)))
        stack.callback((folder / STATE).unlink, missing_ok=True)
        yield world, programs
