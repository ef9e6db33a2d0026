"""The server of PackageManifests with a real catalog: `python -m tests.bench.packages`. Needs the community catalog."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import urllib3

from tests.bench.row import Row
from tests.bench.snapshots import COMMUNITY
from tests.bench.timing import best
from tests.conformance.http import Api
from tests.kit.catalogs import read_status
from tests.kit.sandbox import running_sandbox
from tests.kit.webhook_server import make_authority

LIST = "/apis/packages.operators.coreos.com/v1/namespaces/default/packagemanifests"
SOURCES = "/apis/operators.coreos.com/v1alpha1/namespaces/olm/catalogsources"


def rows() -> Iterable[Row]:
    """Every row of this page; none where the catalog is not here."""
    if not COMMUNITY.is_dir():
        sys.stdout.write(f"{COMMUNITY} is not here: no rows about the packages of a real catalog\n")
        return
    with tempfile.TemporaryDirectory() as name, running_sandbox(Path(name) / "sandbox") as kubeconfig:
        api = Api.of(kubeconfig)
        publish(api, kubeconfig, COMMUNITY)
        make_authority(Path(name) / "pki", "IP:127.0.0.1")
        with serving(Path(name), kubeconfig):
            pass  # the catalog is indexed
        with serving(Path(name), kubeconfig) as (pid, address):
            yield Row("PackageManifests: until ready, on an indexed store (processor time)", used_seconds(pid), 2, "s")
            pool = urllib3.PoolManager(ca_certs=str(Path(name) / "pki" / "ca.crt"))
            headers = {"Authorization": f"Bearer {api.token}"}

            def ask() -> urllib3.BaseHTTPResponse:
                return pool.request("GET", address + LIST, headers=headers)

            found = len(ask().json()["items"])
            took = 1000 * best(ask, clock=time.perf_counter)
            yield Row(f"PackageManifests: a list of {found} for one namespace, warm", took, 150, "ms")
            yield Row("PackageManifests: memory of their server", resident_megabytes(pid), 150, "MB")


def publish(api: Api, kubeconfig: Path, content: Path) -> None:
    """A CatalogSource of the global namespace whose content is the catalog in a folder."""
    from eventing.local.objects import apply_definitions
    from shared.adapters.kube import KubeClient

    apply_definitions(KubeClient.from_kubeconfig(str(kubeconfig)))
    api.post("/api/v1/namespaces", {"metadata": {"name": "olm"}})
    source = {"metadata": {"name": "community"}, "spec": {"sourceType": "grpc", "image": "x"}}
    assert api.post(SOURCES, source).status == 201
    assert api.patch(f"{SOURCES}/community/status", {"status": read_status(str(content))}).status == 200


@contextmanager
def serving(folder: Path, kubeconfig: Path) -> Iterator[tuple[int, str]]:
    """The server in a process of its own, when it is ready: its pid and its address."""
    words = [sys.executable, "-m", "tests.bench.packages", str(folder), str(kubeconfig)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            address = next(line for line in process.stdout if line.startswith("https://"))  # among lines of the log
            yield process.pid, address.strip()
        finally:
            process.terminate()


def used_seconds(pid: int) -> float:
    """The processor time that a process has used: a loaded machine measures nearly as a quiet one does."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def resident_megabytes(pid: int) -> float:
    """Of one process."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) / 1024


def serve_folder(folder: Path, kubeconfig: Path) -> None:
    """What `olmf run packages` does, with catalogs of folders."""
    from eventing.local.ports import free_port
    from eventing.packages.program import Serving, run
    from shared.adapters.content.anywhere import snapshot_at
    from shared.adapters.content.store import Store
    from shared.adapters.kube import KubeClient

    store, keys = Store(folder / "store"), folder / "pki"
    serving = Serving("127.0.0.1", free_port(), keys / "server.crt", keys / "server.key", "olm")
    client = KubeClient.from_kubeconfig(str(kubeconfig))
    run(serving, client, lambda path, _: snapshot_at(path, store), lambda address: print(address, flush=True))


if __name__ == "__main__":
    if sys.argv[1:]:
        serve_folder(Path(sys.argv[1]), Path(sys.argv[2]))
    else:
        for row in rows():
            print(row, flush=True)
