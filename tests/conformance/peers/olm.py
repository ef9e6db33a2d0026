"""The suite of Operator Lifecycle Manager itself."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shared.adapters.kube import KubeClient
from shared.domain.defaults import OPERATORS
from shared.kinds import CATALOG_SOURCE, OPERATOR_GROUP
from tests.conformance.peers import stand_ins, suite
from tests.conformance.peers.images import BUNDLES, CATALOGS, registries_conf
from tests.conformance.peers.left_out import ALTERED, CAUSES, LEFT_OUT
from tests.conformance.peers.peer import Peer
from tests.conformance.peers.scenarios import stand_in_for_kubectl
from tests.conformance.peers.suite import Result, Spec
from tests.conformance.peers.world import OLM_NAMESPACE, World
from tests.kit.waiting import wait_for

APPS = ("olm-operator", "catalog-operator")
COMMUNITY, COMMUNITY_IMAGE = "operatorhubio-catalog", "quay.io/operatorhubio/catalog:latest"
HOSTS = ("quay.io/olmtest", "quay.io/operator-framework", "quay.io/operatorhubio")
PUSHED = "localhost:5000"
"""The registry into which specs push, as they call it."""
IMAGES = {host: host.partition("/")[2] for host in HOSTS} | {PUSHED: ""}
HEAD = """# The suites of our peers

Written by `python -m tests.conformance.peers olm --checkout DIR --report`: the end-to-end suite of Operator Lifecycle
Manager itself (commit 992bb09), against our programs on a real control plane with a simulated node. What is changed of
it is listed with its reason in `peers/olm_edits.py`, images that nobody here can pull are made anew in
`peers/images.py`. Our programs run with `OLMF_EXECUTE_FOREIGN_PLANS`, `OLMF_LIFT_FOREIGN_ROLES` and
`OLMF_GRANT_CLAIMED_APIS`, because specs write plans, roles, versions and definitions by hand, with
`OLMF_CATALOG_POLICY=strict`, because one breaks a catalog that nobody uses to stop a resolution, with
`OLMF_CRD_SAFETY=step`, because one waits for the version of a plan whose definition is refused, and with
`OLMF_BUNDLE_KINDS=Deprecated`, a kind that OLM itself has to be built with for the suite. What specs ask of the pods of
catalogs is not asked: a row about such a pod that passes shows what else the spec asks. A row is the last result of its
spec, of the revision that is named. The suite of OLM v1 is in [PEERS_V1.md](PEERS_V1.md).

"""


@contextmanager
def prepare(cluster: KubeClient) -> Iterator[None]:
    """OLM's programs, and the community's catalog; the suite begins when our programs have made the global group."""
    for app in APPS:
        cluster.apply(stand_ins.deployment(OLM_NAMESPACE, app, app))
    wait_for(lambda: cluster.get(OPERATOR_GROUP.ref("global-operators", OPERATORS)), "the global group")
    meta = {"name": COMMUNITY, "namespace": OLM_NAMESPACE}
    spec = {"sourceType": "grpc", "image": COMMUNITY_IMAGE, "displayName": "Community Operators", "publisher": "ours"}
    cluster.apply({
        "apiVersion": CATALOG_SOURCE.api_version, "kind": CATALOG_SOURCE.kind, "metadata": meta, "spec": spec,
    })  # fmt: skip
    yield


def run(program: Path, checkout: Path, spec: Spec, world: World, log: Path) -> Result:
    """Run one spec."""
    words = (
        f"--kubeconfig={world.kubeconfig}", f"--namespace={OPERATORS}", f"--olmNamespace={OLM_NAMESPACE}",
        f"--catalogNamespace={OLM_NAMESPACE}", f"--communityOperators={COMMUNITY_IMAGE}", "--test-data-dir=./testdata",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        return suite.run(program, checkout, spec, words, _environ(Path(folder), world, program), log)


def _environ(folder: Path, world: World, program: Path) -> dict[str, str]:
    """Where `skopeo` finds the images of the suite, and a `kubectl` that leads to our registry; the log of that."""
    rules = folder / ".config" / "containers" / "registries.conf"
    rules.parent.mkdir(parents=True)
    rules.write_text(registries_conf(IMAGES, world.registry))
    return {
        "HOME": str(folder), "PEER_REGISTRY": world.registry,
        "PEER_REGISTRY_LOG": str(program.parent / "registry" / "log"),
        "PATH": f"{stand_in_for_kubectl(folder).parent}{os.pathsep}{os.environ['PATH']}",
    }  # fmt: skip


OLM = Peer(
    report=Path(__file__).parents[1] / "PEERS.md",
    head=HEAD,
    bundles=BUNDLES,
    catalogs=CATALOGS,
    hosts=IMAGES,
    apps=APPS,
    prepare=prepare,
    build=suite.build,
    specs_of=suite.specs_of,
    run=run,
    left_out=LEFT_OUT,
    altered=ALTERED,
    causes=CAUSES,
)
