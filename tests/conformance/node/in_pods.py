"""Our programs in pods of a real node, as the steps look at them."""

from __future__ import annotations

import base64
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, Self

import yaml

from shared.adapters.kube import ApiError, KubeClient
from shared.api.manifest import Manifest, name_of
from shared.kinds import NAMESPACE, POD, Ref
from tests.conformance.control_plane import program
from tests.conformance.http import Api
from tests.kit.installation import Installation
from tests.kit.waiting import wait_for

OURS = "olm"
IMAGE = "olm-functions:0.1.0"
KILLED = 137
"""How a process in a container ends that is killed."""
DEPLOYMENTS = ("olmf-watch", "olmf-worker", "olmf-scheduler", "olmf-packages", "olmf-catalogs")


@dataclass(frozen=True)
class InPods(Installation):
    """An installation of `k8s/base` on the node of a folder; `state` is that folder."""

    kubeconfig: Path = Path()

    @classmethod
    @contextmanager
    def of_node(cls, folder: Path) -> Iterator[Self]:
        """The one on the node of a folder, with a token of an administrator."""
        with tempfile.TemporaryDirectory() as own:
            kubeconfig = with_token(folder / "kubeconfig", Path(own))
            yield cls(folder, KubeClient.from_kubeconfig(str(kubeconfig)), kubeconfig)

    @property
    def api(self) -> Api:
        """The API server, as the administrator."""
        return Api.of(self.kubeconfig)

    def kubectl(self, *words: str, namespace: str = OURS, timeout: float = 180) -> str:
        """What kubectl says in a namespace (empty: what each object says); CalledProcessError."""
        place = [f"--namespace={namespace}"] if namespace else []
        command = [str(program("kubectl")), f"--kubeconfig={self.kubeconfig}", *place, *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=True).stdout

    def node(self, *words: str) -> None:
        """`node.sh <words>`."""
        subprocess.run([Path(__file__).with_name("node.sh"), *words], capture_output=True, check=True, timeout=300)

    def olmf(self, *words: str, check: bool = True, timeout: float = 180) -> subprocess.CompletedProcess[str]:
        """Run `olmf` in the pod of a worker, as soon as its container is there: a kubelet knows late of its end."""
        del check

        def ran() -> list[subprocess.CompletedProcess[str]]:
            try:
                output = self.kubectl("exec", "deploy/olmf-worker", "--", "olmf", *words, timeout=timeout)
            except subprocess.CalledProcessError as error:
                if "container not found" in error.stderr or error.returncode == KILLED:  # with the verb in it
                    return []
                raise
            return [subprocess.CompletedProcess(words, 0, output, "")]

        (done,) = wait_for(ran, "a container of a worker")
        return done

    def status(self) -> Any:
        """Our pods, with their restarts."""
        return {"processes": [
            {"name": name, "pid": restarts, "healthy": is_ready} for name, restarts, is_ready in self.pods()
        ]}  # fmt: skip

    def pods(self) -> list[tuple[str, int, bool]]:
        """Name, restarts and readiness of each pod of our programs, but for those that end."""
        found = []
        for pod in self.cluster.list(POD, OURS):
            if name_of(pod).startswith(DEPLOYMENTS) and not pod["metadata"].get("deletionTimestamp"):
                statuses = (pod.get("status") or {}).get("containerStatuses") or []
                restarts = sum(each["restartCount"] for each in statuses)
                found.append((name_of(pod), restarts, bool(statuses) and all(each["ready"] for each in statuses)))
        return sorted(found)

    def until_ready(self) -> None:
        """Wait until all pods are there and ready."""

        def are_ready() -> bool:
            pods = self.pods()
            known = all(any(name.startswith(each) for name, _, _ in pods) for each in DEPLOYMENTS)
            return known and all(is_ready for _, _, is_ready in pods)

        wait_for(are_ready, "that all pods are ready")

    def remove(self, *refs: Ref) -> None:
        """Delete what is there, and wait until it is gone."""
        for ref in refs:
            self.cluster.delete(ref)
        for ref in refs:
            self.until_gone(ref)

    @contextmanager
    def namespaces(self, *names: str, labels: Mapping[str, str] | None = None) -> Iterator[None]:
        """Namespaces that are gone after the block."""
        for name in names:
            meta = {"name": name, "labels": dict(labels or {})}
            self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
        try:
            yield
        finally:
            self.remove(*(NAMESPACE.ref(name) for name in names))

    def output(self, script: str, namespace: str, labels: Mapping[str, str] | None = None) -> str:
        """What a script of Python says in a pod of its own."""
        ref = POD.ref("asking", namespace)
        self.apply(a_pod(ref, script, labels or {}))
        try:
            self.until(ref, lambda pod: pod["status"]["phase"] in ("Succeeded", "Failed"), "its end")
            return self.kubectl("logs", "asking", namespace=namespace)
        finally:
            self.remove(ref)

    def dead(self) -> list[str]:
        """The dead letters."""
        return [f"{each['step']} {each['ref']}" for each in json.loads(self.olmf("queue", "dead", "-o", "json").stdout)]


def a_pod(ref: Ref, script: str, labels: Mapping[str, str]) -> Manifest:
    """A pod of our image that runs a script and ends."""
    secure = {
        "runAsNonRoot": True, "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }  # fmt: skip
    container = {"name": "one", "image": IMAGE, "command": ["python", "-c", script], "securityContext": secure}
    meta = {"name": ref.name, "namespace": ref.namespace, "labels": dict(labels)}
    spec = {"containers": [container], "restartPolicy": "Never", "automountServiceAccountToken": False}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


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
    authority = folder / "ca.crt"
    authority.write_bytes(base64.b64decode(cluster.pop("certificate-authority-data")))
    cluster["certificate-authority"] = str(authority)
    config["users"] = [{"name": config["users"][0]["name"], "user": {"token": token}}]
    made = folder / "kubeconfig"
    made.write_text(yaml.safe_dump(config))
    return made


@contextmanager
def calling(call: Callable[[], object], seconds_between: float = 0.1) -> Iterator[list[str]]:
    """Meanwhile the call is made again and again; yields what each said: nothing, or why it failed."""
    output, over = list[str](), Event()

    def go_on() -> None:
        while not over.wait(seconds_between):
            try:
                call()
                output.append("")
            except ApiError as error:
                output.append(f"after {time.strftime('%X')}: {error}")

    with ThreadPoolExecutor(1) as pool:
        going = pool.submit(go_on)
        try:
            yield output
        finally:
            over.set()
        going.result()
