"""A real Kubernetes API on a bare machine: where its programs come from, and how they are started and ended."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import urllib3
import yaml

from eventing.local.ports import free_port
from tests.conformance.keys import make_keys, make_server_keys

KUBE, ETCD = "1.35.4", "3.6.5"
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kubectl")
CACHE = Path.home() / ".cache" / "olmf" / f"kube-{KUBE}-etcd-{ETCD}"
MODULES = Path(__file__).parent / "kube"
PACKAGES = {
    "etcd": (MODULES / "etcd", "go.etcd.io/etcd/server/v3"), "coredns": (MODULES / "coredns", "."),
    "pause": (MODULES / "pause", "."), "operator": (MODULES / "operator", "."),
}  # fmt: skip
"""Programs that are not of Kubernetes: their modules, and the packages in them."""
TOKEN, PLAIN = "conformance", "plain"
"""Tokens of an administrator, to whom no limit applies, and of a user of that name without any rights."""
START_SECONDS = 120
STAMP = (
    f"-s -w -X k8s.io/component-base/version.gitVersion=v{KUBE} -X k8s.io/component-base/version.gitMajor=1 "
    f"-X k8s.io/component-base/version.gitMinor={KUBE.split('.')[1]} "
    "-X k8s.io/component-base/version.gitTreeState=clean -X k8s.io/component-base/version.gitCommit=0000000 "
    "-X k8s.io/component-base/version.buildDate=2026-01-01T00:00:00Z"
)


class NoControlPlane(Exception):
    """There are no programs to run, and no way to make them."""


def program(name: str) -> Path:
    """One program: of KUBEBUILDER_ASSETS, else of the cache, which is built when it lacks it."""
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    if assets and (found := Path(assets) / name).exists():
        return found
    if not (CACHE / name).exists():
        build(name)
    return CACHE / name


def build(name: str) -> None:
    """Build one program from its Go modules, into the cache."""
    if not shutil.which("go"):
        raise NoControlPlane(
            f"{name}: not in KUBEBUILDER_ASSETS, not in {CACHE}, and no Go (1.25 or newer) to build it with; "
            "install Go, or set KUBEBUILDER_ASSETS to a folder with " + ", ".join(PROGRAMS)
        )
    work = CACHE / f"build-{os.getpid()}"
    folder, package = PACKAGES.get(name, (MODULES, f"k8s.io/kubernetes/cmd/{name}"))
    shutil.copytree(folder, work)
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"}
    print(f"building {name}: a few minutes, once", flush=True)
    try:
        subprocess.run(["go", "mod", "tidy"], cwd=work, env=environment, check=True)
        made = work / "made"
        command = ["go", "build", "-trimpath", "-ldflags", STAMP, "-o", str(made), package]
        subprocess.run(command, cwd=work, env=environment, check=True)
        made.replace(CACHE / name)
    finally:
        shutil.rmtree(work)


@contextmanager
def process(folder: Path, *words: str | Path) -> Iterator[subprocess.Popen[bytes]]:
    """A program with its output in a file; it ends with the block."""
    with (folder / f"{Path(words[0]).name}.log").open("wb") as log:
        running = subprocess.Popen([str(word) for word in words], stdout=log, stderr=log, cwd=folder)
        try:
            yield running
        finally:
            running.terminate()
            try:
                running.wait(10)
            except subprocess.TimeoutExpired:
                running.kill()
                running.wait()


class ControlPlane:
    """etcd, API server and every default controller: no Node, no scheduler, no kubelet."""

    def __init__(self, folder: Path, *server_words: str) -> None:
        """Keys and tokens for a control plane in the folder; `server_words` go to the API server besides."""
        self.kubeconfig = folder / "kubeconfig"
        """That of an administrator, once it is started."""
        self._folder = folder
        self._words = server_words
        self._client, self._peer, self._secure = free_port(), free_port(), free_port()
        self._running = ExitStack()
        self._programs: dict[str, tuple[subprocess.Popen[bytes], tuple[str, ...]]] = {}
        make_keys(folder / "pki")
        (folder / "tokens.csv").write_text(f'{TOKEN},admin,admin-uid,"system:masters"\n{PLAIN},{PLAIN},{PLAIN}-uid\n')
        write_kubeconfig(self.kubeconfig, self._secure, folder / "pki" / "ca.crt")

    def start(self) -> None:
        """Return when it serves and its controllers work, with what it stored before."""
        authority, server_url = self._folder / "pki" / "ca.crt", f"https://127.0.0.1:{self._secure}"
        etcd, peer = f"http://127.0.0.1:{self._client}", f"http://127.0.0.1:{self._peer}"
        self._run(
            "etcd", "--data-dir", "etcd", "--unsafe-no-fsync", f"--listen-client-urls={etcd}",
            f"--advertise-client-urls={etcd}", f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
        )  # fmt: skip
        server = self._run(
            "kube-apiserver", f"--etcd-servers={etcd}", f"--secure-port={self._secure}", "--token-auth-file=tokens.csv",
            *SERVER, *self._words,
        )  # fmt: skip
        wait_ready(f"{server_url}/readyz", authority, server)
        controllers = self._run("kube-controller-manager", f"--kubeconfig={self.kubeconfig}", *CONTROLLERS)
        wait_ready(f"{server_url}{PUBLISHED}", authority, controllers)

    def stop(self) -> None:
        """End everything; what is stored stays."""
        self._running.close()

    def names(self) -> tuple[str, ...]:
        """Its programs."""
        return tuple(self._programs)

    def kill(self, name: str) -> bool:
        """Kill a program, which is started again at once, as whoever runs a control plane sees to it."""
        running, words = self._programs[name]
        running.kill()
        running.wait()
        return self._run(name, *words).poll() is None

    def is_ready(self) -> bool:
        """Whether it serves; programs that ended because another was away are started again."""
        for name, (running, words) in self._programs.items():
            if running.poll() is not None:
                self._run(name, *words)
        return is_served(f"https://127.0.0.1:{self._secure}/readyz", self._folder / "pki" / "ca.crt")

    def back_up(self) -> None:
        """Keep what is stored, while it is stopped."""
        shutil.rmtree(self._folder / "backup", ignore_errors=True)
        shutil.copytree(self._folder / "etcd", self._folder / "backup")

    def restore(self) -> None:
        """Store what was kept, and nothing since, while it is stopped."""
        shutil.rmtree(self._folder / "etcd")
        shutil.copytree(self._folder / "backup", self._folder / "etcd")

    def renew_keys(self) -> None:
        """Have a certificate of a new authority, while it is stopped; who has the old one alone is not let in."""
        make_server_keys(self._folder / "pki")

    def _run(self, name: str, *words: str) -> subprocess.Popen[bytes]:
        running = self._running.enter_context(process(self._folder, program(name), *words))
        self._programs[name] = running, words
        return running


@contextmanager
def running_control_plane(folder: Path, *server_words: str, pod_network: str = "") -> Iterator[Path]:
    """A control plane; yields the path of an administrator's kubeconfig.

    `server_words` go to the API server besides, which reaches Pods through the proxy at the socket `pod_network`, when
    there is one.
    """
    if pod_network:
        server_words = (*server_words, *egress(folder / "egress.yaml", pod_network))
    plane = ControlPlane(folder, *server_words)
    try:
        plane.start()
        yield plane.kubeconfig
    finally:
        plane.stop()


def egress(path: Path, pod_network: str) -> tuple[str, str]:
    """Options of an API server that reaches Services by the addresses of their Pods, through a proxy."""
    connection = {"proxyProtocol": "HTTPConnect", "transport": {"uds": {"udsName": pod_network}}}
    path.write_text(yaml.safe_dump({
        "apiVersion": "apiserver.k8s.io/v1beta1", "kind": "EgressSelectorConfiguration",
        "egressSelections": [{"name": "cluster", "connection": connection}],
    }))  # fmt: skip
    return "--enable-aggregator-routing=true", f"--egress-selector-config-file={path}"


SERVER = (
    "--bind-address=127.0.0.1", "--authorization-mode=RBAC", "--allow-privileged=true",
    "--service-cluster-ip-range=10.0.0.0/24",
    "--tls-cert-file=pki/apiserver.crt", "--tls-private-key-file=pki/apiserver.key", "--client-ca-file=pki/ca.crt",
    "--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=pki/sa.pub",
    "--service-account-signing-key-file=pki/sa.key", "--requestheader-client-ca-file=pki/front-ca.crt",
    "--requestheader-allowed-names=front-proxy", "--requestheader-username-headers=X-Remote-User",
    "--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    "--proxy-client-cert-file=pki/front-proxy.crt", "--proxy-client-key-file=pki/front-proxy.key",
)  # fmt: skip
"""Options of the API server; its admission plugins are those that are on by default."""
CONTROLLERS = (
    "--leader-elect=false", "--secure-port=0", "--use-service-account-credentials=true", "--root-ca-file=pki/ca.crt",
    "--service-account-private-key-file=pki/sa.key", "--cluster-signing-cert-file=pki/ca.crt",
    "--cluster-signing-key-file=pki/ca.key", "--kube-api-qps=300", "--kube-api-burst=600",
)  # fmt: skip
"""Options of the controllers: all that run by default, each with its own ServiceAccount."""
PUBLISHED = "/api/v1/namespaces/kube-system/configmaps/kube-root-ca.crt"
"""What the controllers write for each namespace: with it, they are at work."""


def wait_ready(url: str, authority: Path, server: subprocess.Popen[bytes]) -> None:
    """Return when the API server answers 200 there, which is meant to be due to `server`."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        if authority.exists() and is_served(url, authority):
            return
        time.sleep(0.1)
    raise NoControlPlane(f"{url} was not ready within {START_SECONDS} s; see the logs beside {authority.parent}")


def is_served(url: str, authority: Path) -> bool:
    """Whether the API server answers 200 there."""
    with urllib3.PoolManager(ca_certs=str(authority), retries=False, timeout=5) as pool:
        try:
            return pool.request("GET", url, headers={"Authorization": f"Bearer {TOKEN}"}).status == 200
        except urllib3.exceptions.HTTPError:
            return False  # nobody listens, or not yet


def write_kubeconfig(path: Path, port: int, authority: Path) -> None:
    """The administrator's way in."""
    cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority": str(authority)}
    path.write_text(yaml.safe_dump({
        "apiVersion": "v1", "kind": "Config", "current-context": "real",
        "clusters": [{"name": "real", "cluster": cluster}],
        "users": [{"name": "admin", "user": {"token": TOKEN}}],
        "contexts": [{"name": "real", "context": {"cluster": "real", "user": "admin", "namespace": "default"}}],
    }))  # fmt: skip
