"""The cluster in which a peer's suite runs: a real control plane, our simulated node and our programs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from shared.adapters.kube import KubeClient
from shared.kinds import CATALOG_SOURCE, NAMESPACE
from tests.conformance.peers import stand_ins
from tests.conformance.peers.services import ServiceProxy
from tests.conformance.peers.stand_ins import StandIns
from tests.conformance.targets import REAL, running_cluster
from tests.kit.installation import a_namespace, an_operator_group, installed

HOME, OPERATORS = "olm", "operators"
COMMUNITY, COMMUNITY_IMAGE = "operatorhubio-catalog", "quay.io/operatorhubio/catalog:latest"
STATE = "world.json"


@dataclass(frozen=True, slots=True)
class World:
    """Where a suite finds the cluster."""

    kubeconfig: str

    def words(self) -> list[str]:
        """Its options of the suite of OLM."""
        return [
            f"--kubeconfig={self.kubeconfig}", f"--namespace={OPERATORS}", f"--olmNamespace={HOME}",
            f"--catalogNamespace={HOME}", f"--communityOperators={COMMUNITY_IMAGE}", "--test-data-dir=./testdata",
        ]  # fmt: skip


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
def running(folder: Path, registries: str) -> Iterator[tuple[World, Programs]]:
    """Start everything; yields when the suite may begin. `registries` is the text of a `registries.conf`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        network, kubelet = str(folder / "pods.sock"), str(folder / "kubelet.sock")
        kubeconfig = stack.enter_context(running_cluster(REAL, folder, pod_network=network))
        proxied = ServiceProxy(kubeconfig, kubelet, folder, StandIns(folder / "olmf"))
        proxy = stack.enter_context(proxied.running(network))
        environ = {
            "OLMF_POD_NETWORK": kubelet, "OLMF_REGISTRIES_CONF": registries, "GRPC_PROXY": proxy, "grpc_proxy": proxy,
            "no_proxy": "127.0.0.1", "OLMF_CATALOGS_ADDRESS": "localhost:50051",
            "OLMF_EXECUTE_FOREIGN_PLANS": "true", "OLMF_LIFT_FOREIGN_ROLES": "true",
        }  # fmt: skip
        programs = Programs(folder / "olmf", ("--kubeconfig", str(kubeconfig), "--take-over"), environ)
        stack.callback(lambda: programs.present.close())
        programs.start()
        prepare(KubeClient.from_kubeconfig(str(kubeconfig)))
        world = World(str(kubeconfig))
        (folder / STATE).write_text(json.dumps(asdict(world)))
        stack.callback((folder / STATE).unlink, missing_ok=True)
        yield world, programs


def prepare(cluster: KubeClient) -> None:
    """What the suite expects of every cluster: OLM's programs, a global group, and the community's catalog."""
    for manifest in stand_ins.deployments(HOME):
        cluster.apply(manifest)
    if cluster.get(NAMESPACE.ref(OPERATORS)) is None:
        for manifest in (a_namespace(OPERATORS), an_operator_group(OPERATORS, name="global-operators")):
            cluster.apply(manifest)
    meta = {"name": COMMUNITY, "namespace": HOME}
    spec = {"sourceType": "grpc", "image": COMMUNITY_IMAGE, "displayName": "Community Operators", "publisher": "ours"}
    cluster.apply({
        "apiVersion": CATALOG_SOURCE.api_version, "kind": CATALOG_SOURCE.kind, "metadata": meta, "spec": spec,
    })  # fmt: skip
