"""Our programs in pods of a real cluster: install, upgrade, faults, attack, uninstall; the report is NODE.md.

`python -m tests.conformance node KUBECONFIG`, where `k8s/base` is applied and `$OLMF_NODE_CATALOG` is the image of a
catalog with the sample bundles. `$OLMF_NODE_API_PID` is the file with the process id of an API server that may be
halted for some seconds. Not part of `make conformance`: it needs a cluster whose Nodes run containers.
"""

from __future__ import annotations

import base64
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from shared.adapters.kube import ApiError, KubeClient
from shared.api.manifest import uid_of
from shared.kinds import CATALOG_SOURCE, CLUSTER_SERVICE_VERSION, DEPLOYMENT, NAMESPACE, POD, SUBSCRIPTION, Ref
from tests.conformance.attacks.gains import gained
from tests.conformance.attacks.registry import hostile_registry
from tests.conformance.attacks.scenario import Facts
from tests.conformance.attacks.scenario import run as attack
from tests.conformance.control_plane import program
from tests.conformance.http import Api
from tests.kit.installation import Installation, a_namespace, a_subscription, an_operator_group
from tests.kit.waiting import wait_for

REPORT = Path(__file__).with_name("NODE.md")
OURS, PLACE = "olm", "lake"
IMAGE = os.environ.get("OLMF_NODE_CATALOG", "quay.io/olmf/samples-catalog:latest")
PROGRAMS = ("watch", "worker", "scheduler", "endpoint")
HALT_SECONDS = 15
HEAD = """# On a real node

Written by `python -m tests.conformance node KUBECONFIG`: the programs run in pods as `k8s/base` says (namespace
`restricted`, NetworkPolicies enforced), containers of operators really start.

| what | seconds | what was seen |
|---|---|---|
"""


@dataclass(frozen=True)
class InPods(Installation):
    """An installation of `k8s/base`."""

    kubeconfig: Path = Path()

    def kubectl(self, *words: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Run kubectl in our namespace."""
        command = [str(program("kubectl")), f"--kubeconfig={self.kubeconfig}", f"--namespace={OURS}", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=True)

    def olmf(self, *words: str, check: bool = True, timeout: float = 180) -> subprocess.CompletedProcess[str]:
        """Run `olmf` in the pod of a worker."""
        del check
        return self.kubectl("exec", "deploy/olmf-worker", "--", "olmf", *words, timeout=timeout)

    def status(self) -> Any:
        """Our pods, with their restarts."""
        return {"processes": [
            {"name": name, "pid": restarts, "healthy": is_ready} for name, restarts, is_ready in self.pods()
        ]}  # fmt: skip

    def pods(self) -> list[tuple[str, int, bool]]:
        """Name, restarts and readiness of each of our pods."""
        ours = tuple(f"olmf-{name}" for name in PROGRAMS)
        found = []
        for pod in self.cluster.list(POD, OURS):
            if pod["metadata"]["name"].startswith(ours):
                statuses = (pod.get("status") or {}).get("containerStatuses") or []
                restarts = sum(each["restartCount"] for each in statuses)
                found.append((pod["metadata"]["name"], restarts, all(each["ready"] for each in statuses)))
        return sorted(found)


def main(words: list[str]) -> int:
    """Run every step and write the report; 1 when a step failed."""
    if len(words) != 1:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = with_token(Path(words[0]), Path(folder))
        installation = InPods(Path(), KubeClient.from_kubeconfig(str(kubeconfig)), kubeconfig)
        rows = list(rows_of(installation, Api.of(kubeconfig)))
    REPORT.write_text(HEAD + "".join(f"| {what} | {seconds:.1f} | {seen} |\n" for what, seconds, seen in rows))
    return int(any(seen.startswith("FAILED") for _, _, seen in rows))


def rows_of(installation: InPods, api: Api) -> Iterator[tuple[str, float, str]]:
    """What each step came to, as it comes."""
    steps: tuple[tuple[str, Callable[[InPods], str]], ...] = (
        ("the catalog is read", reads_the_catalog), ("an install and an upgrade", upgrades),
        ("every pod of ours is deleted during an install", loses_its_pods),
        ("Redis forgets everything", loses_redis_data),
        ("the pod of Redis is deleted", loses_redis), ("the API server is halted", loses_the_api),
        ("an uninstall", uninstalls), ("a tenant attacks", lambda found: is_attacked(found, api)),
    )  # fmt: skip
    for what, step in steps:
        started = time.monotonic()
        try:
            seen = step(installation)
        except (AssertionError, ApiError, subprocess.SubprocessError) as error:
            seen = "FAILED: " + " ".join(str(error).split())[:600].replace("|", "\\|")
        took = time.monotonic() - started
        sys.stdout.write(f"{what}: {took:.1f} s: {seen}\n")
        sys.stdout.flush()
        yield what, took, seen


def with_token(kubeconfig: Path, folder: Path) -> Path:
    """A kubeconfig with a token of an administrator, for clients that know no certificates."""
    client = KubeClient.from_kubeconfig(str(kubeconfig))
    meta = {"name": "conformance", "namespace": "kube-system"}
    client.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta})
    rbac = "rbac.authorization.k8s.io"
    client.apply({
        "apiVersion": f"{rbac}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "conformance"},
        "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", **meta}],
    })  # fmt: skip
    path = "/api/v1/namespaces/kube-system/serviceaccounts/conformance/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 7200}}
    token = client.request("POST", path, request)["status"]["token"]
    config = yaml.safe_load(kubeconfig.read_text())
    cluster = config["clusters"][0]["cluster"]
    if "certificate-authority-data" in cluster:
        authority = folder / "ca.crt"
        authority.write_bytes(base64.b64decode(cluster.pop("certificate-authority-data")))
        cluster["certificate-authority"] = str(authority)
    config["users"] = [{"name": config["users"][0]["name"], "user": {"token": token}}]
    made = folder / "kubeconfig"
    made.write_text(yaml.safe_dump(config))
    return made


def reads_the_catalog(installation: InPods) -> str:
    """A CatalogSource with an image."""
    meta = {"name": "local", "namespace": OURS}
    spec = {"sourceType": "grpc", "image": IMAGE}
    installation.apply({
        "apiVersion": CATALOG_SOURCE.api_version, "kind": CATALOG_SOURCE.kind, "metadata": meta, "spec": spec,
    })  # fmt: skip
    ref = CATALOG_SOURCE.ref("local", OURS)
    installation.until(ref, lambda each: each["status"]["connectionState"]["lastObservedState"] == "READY", "READY")
    return "READY"


def upgrades(installation: InPods) -> str:
    """From the first version of a package along its channel."""
    installation.apply(a_namespace(PLACE), an_operator_group(PLACE, targets=(PLACE,)))
    installation.apply(a_subscription("tide", PLACE, channel="stable", startingCSV="tide.v0.1.0"))
    installation.until_phase("tide.v1.0.0", PLACE)
    return "tide.v0.1.0 is tide.v1.0.0, Succeeded"


def anew(installation: InPods, harm: Callable[[], object]) -> str:
    """Take an operator away and subscribe to it again, with harm in the middle."""
    for ref in (SUBSCRIPTION.ref("beacon", PLACE), CLUSTER_SERVICE_VERSION.ref("beacon.v1.1.0", PLACE)):
        with suppress(ApiError):
            installation.cluster.delete(ref)
    installation.until_gone(CLUSTER_SERVICE_VERSION.ref("beacon.v1.1.0", PLACE))
    installation.apply(a_subscription("beacon", PLACE, channel="fast"))
    time.sleep(1)
    harm()
    installation.until_phase("beacon.v1.1.0", PLACE)
    wait_for(lambda: all(is_ready for _, _, is_ready in installation.pods()), "that all pods are ready")
    return "beacon.v1.1.0 Succeeded, all pods ready"


def loses_its_pods(installation: InPods) -> str:
    """Delete all pods of our programs."""

    def harm() -> None:
        for name, _, _ in installation.pods():
            installation.cluster.delete(POD.ref(name, OURS))

    return anew(installation, harm)


def loses_redis_data(installation: InPods) -> str:
    """FLUSHALL."""
    script = 'REDISCLI_AUTH="$PASSWORD" redis-cli flushall'
    return anew(installation, lambda: installation.kubectl("exec", "deploy/olmf-redis", "--", "sh", "-c", script))


def loses_redis(installation: InPods) -> str:
    """Delete the pod, which keeps nothing."""

    def harm() -> None:
        for pod in installation.cluster.list(POD, OURS):
            if pod["metadata"]["name"].startswith("olmf-redis"):
                installation.cluster.delete(Ref.of(pod))

    return anew(installation, harm)


def loses_the_api(installation: InPods) -> str:
    """Halt the API server for some seconds."""
    file = os.environ.get("OLMF_NODE_API_PID", "")
    if not file:
        return "not tried: `$OLMF_NODE_API_PID` is not set"
    pid = int(Path(file).read_text().split()[0])

    def harm() -> None:
        os.kill(pid, signal.SIGSTOP)
        try:
            time.sleep(HALT_SECONDS)
        finally:
            os.kill(pid, signal.SIGCONT)

    return f"for {HALT_SECONDS} s; {anew(installation, harm)}"


def uninstalls(installation: InPods) -> str:
    """Take an operator away."""
    deployment = installation.cluster.get(DEPLOYMENT.ref("tide-controller", PLACE)) or {}
    assert uid_of(deployment), "there is no Deployment"
    installation.cluster.delete(SUBSCRIPTION.ref("tide", PLACE))
    installation.cluster.delete(CLUSTER_SERVICE_VERSION.ref("tide.v1.0.0", PLACE))
    installation.until_gone(DEPLOYMENT.ref("tide-controller", PLACE))
    wait_for(
        lambda: not [pod for pod in installation.cluster.list(POD, PLACE) if "tide" in pod["metadata"]["name"]],
        "the end of its pods",
    )
    installation.cluster.delete(NAMESPACE.ref(PLACE))
    installation.until_gone(NAMESPACE.ref(PLACE))
    return "Deployment, pods and namespace are gone"


def is_attacked(installation: InPods, api: Api) -> str:
    """The attack suite."""
    with hostile_registry() as registry:
        facts = attack(installation, api, registry)
    faults = faults_of(facts)
    assert not faults, "; ".join(faults)
    return (
        f"{facts.written} objects written, {facts.refused} refused; gained: nothing; no pod restarted; the neighbour's "
        f"install took {facts.busy.times(facts.quiet)}; a deleted Deployment was back "
        f"after {facts.healing_seconds:.1f} s; nothing is left"
    )


def faults_of(facts: Facts) -> list[str]:
    """What must not be."""
    found = {
        "gained": gained(facts.before, facts.after), "installed by a forged plan": facts.installed_by_forgery,
        "dead letters": facts.dead, "left": facts.left, "not ready": facts.unhealthy, "did not end": facts.failures,
        "restarted": [f"{facts.pids_before} {facts.pids_after}"] if facts.pids_before != facts.pids_after else [],
    }  # fmt: skip
    return [f"{what}: {each[0]}, {len(each)} in all" for what, each in found.items() if each]
