"""The suite of OLM v1: the Gherkin features of operator-controller."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from shared.adapters.kube import KubeClient
from shared.kinds import CUSTOM_RESOURCE_DEFINITION
from tests.conformance.peers import certificates, demonstrations, scenarios, stand_ins
from tests.conformance.peers.certificates import CertManager
from tests.conformance.peers.left_out_v1 import LEFT_OUT
from tests.conformance.peers.peer import Peer
from tests.conformance.peers.world import OLM_NAMESPACE
from tests.kit.waiting import wait_for

IN_CLUSTER = ".operator-controller-e2e.svc.cluster.local:5000"
APPS = ("operator-controller", "catalogd")
GATES = ("BoxcutterRuntime", "SingleOwnNamespaceInstallSupport", "DeploymentConfig", "WebhookProviderCertManager")
METRICS_PORT = 8443
WARNING = Path(__file__).parents[3] / "k8s" / "optional" / "service-account-warning.yaml"
HEAD = """# The suite of OLM v1

Written by `python -m tests.conformance.peers operator-controller --checkout DIR --report`: the Gherkin features of
operator-controller (commit df2c201) with its own steps, against our programs on a real control plane with a simulated
node, all of its feature gates on. What is changed of scenarios and steps is listed with its reason in
`peers/gherkin_edits.py`; `peers/kubectl.py` answers `exec` and `port-forward` for the simulated Pods,
`peers/certificates.py` plays cert-manager. A row is the last result of its scenario, of the revision that is named.

"""


@contextmanager
def prepare(cluster: KubeClient) -> Iterator[None]:
    """The Deployments and Services that steps look for, the policy that an administrator may apply, cert-manager."""
    for manifest in (*stand_in_objects(), *yaml.safe_load_all(WARNING.read_text()), *certificates.definitions()):
        cluster.apply(manifest)
    cluster.apply(demonstrations.cluster_catalog())
    names = [each["metadata"]["name"] for each in certificates.definitions()]
    wait_for(lambda: all(_is_served(cluster, name) for name in names), "the kinds of cert-manager")
    with CertManager(cluster).working():
        yield


def _is_served(cluster: KubeClient, definition: str) -> bool:
    found = cluster.get(CUSTOM_RESOURCE_DEFINITION.ref(definition)) or {}
    conditions = (found.get("status") or {}).get("conditions") or ()
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)


def stand_in_objects() -> Iterator[dict[str, Any]]:
    """By the names of upstream's programs; what they lead to is ours."""
    for app in APPS:
        gates = [f"--feature-gates={gate}=true" for gate in GATES]
        made = stand_ins.deployment(OLM_NAMESPACE, f"{app}-controller-manager", app, name="manager", args=gates)
        made["metadata"]["labels"] = {"app.kubernetes.io/part-of": "olm", "app.kubernetes.io/name": app}
        yield made
        ports = [
            {"name": "metrics", "port": METRICS_PORT, "targetPort": stand_ins.PORT},
            {"name": "https", "port": 443},
        ]
        yield {
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": f"{app}-service", "namespace": OLM_NAMESPACE},
            "spec": {"selector": {"app": app}, "ports": ports},
        }  # fmt: skip


OPERATOR_CONTROLLER = Peer(
    report=Path(__file__).parents[1] / "PEERS_V1.md",
    head=HEAD,
    bundles=demonstrations.BUNDLES,
    catalogs=demonstrations.CATALOGS,
    hosts={
        **{f"{name}{IN_CLUSTER}": "" for name in ("docker-registry", "mirrored-registry")},
        demonstrations.HOST: demonstrations.HOST.partition("/")[2],
    },
    apps=APPS,
    prepare=prepare,
    build=scenarios.build,
    specs_of=scenarios.specs_of,
    run=scenarios.run,
    left_out=LEFT_OUT,
    alone=frozenset({"tls.feature"}),
    specs_per_world=3,
)
