"""OLM v1's own programs, built of a checkout of operator-controller, beside a cluster instead of in it."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from eventing.local.ports import free_port
from shared.api.manifest import Manifest
from shared.kinds import CUSTOM_RESOURCE_DEFINITION
from tests.kit.waiting import wait_for
from tests.kit.webhook_server import make_authority

CATALOGD, CONTROLLER = "catalogd", "operator-controller"
NAMESPACE = "olmv1-system"
ENGINES: Mapping[str, tuple[str, ...]] = {
    "Helm": ("manifests/standard.yaml",),
    "boxcutter": (
        "manifests/experimental.yaml", "BoxcutterRuntime", "BundleReleaseSupport", "DeploymentConfig",
        "SingleOwnNamespaceInstallSupport",
    ),
}  # fmt: skip
"""How extensions are rolled out: the manifest with its definitions, and the feature gates that are on in it."""
POD = "/run/secrets/kubernetes.io/serviceaccount"
AS_IN_A_POD = (
    f'mount -t tmpfs none /run && mkdir -p {POD} && printf %s "$1" >{POD}/token && printf %s "$2" >{POD}/namespace '
    '&& shift 2 && exec "$@"'
)
"""They read who they are from where a Pod has it: there, for them alone."""
END_SECONDS = 30


def build(checkout: Path, folder: Path) -> None:
    """Build what is not there yet, as their Makefile does; `GOFLAGS=-modfile=…` may say where modules come from."""
    missing = [f"./cmd/{name}" for name in (CATALOGD, CONTROLLER) if not (folder / name).exists()]
    if missing:
        words = ["go", "build", "-tags", "containers_image_openpgp", "-o", f"{folder}/", *missing]
        subprocess.run(words, cwd=checkout, env={**os.environ, "CGO_ENABLED": "0"}, check=True)


def definitions(checkout: Path, engine: str) -> Iterator[Manifest]:
    """Those of the manifest."""
    documents = yaml.safe_load_all((checkout / ENGINES[engine][0]).read_text())
    yield from (one for one in documents if one["kind"] == CUSTOM_RESOURCE_DEFINITION.kind)


@dataclass(frozen=True, slots=True)
class Theirs:
    """Their programs while they run."""

    catalogd: int
    controller: int
    served_at: int
    authority: Path
    """Of the certificate with which catalogs are served."""


@contextmanager
def running_theirs(engine: str, programs: Path, kubeconfig: Path, registries: Path, folder: Path) -> Iterator[Theirs]:
    """Both programs with what the manifest gives them, for as long as the block runs."""
    keys = make_authority(folder / "keys", "IP:127.0.0.1")
    served, gates = free_port(), ENGINES[engine][1:]
    catalogd = (
        f"--catalogs-server-addr=127.0.0.1:{served}", f"--external-address=127.0.0.1:{served}",
        f"--webhook-server-port={free_port()}", f"--cache-dir={folder / 'catalogd-cache'}",
        "--feature-gates=APIV1MetasHandler=true",
    )  # fmt: skip
    controller = (
        f"--catalogd-cas-dir={_only(keys / 'ca.crt', folder / 'authorities')}",
        f"--cache-path={folder / 'controller-cache'}", *(f"--feature-gates={gate}=true" for gate in gates),
    )  # fmt: skip
    environ = {**os.environ, "KUBECONFIG": str(kubeconfig), "CONTAINERS_REGISTRIES_CONF": str(registries)}
    with ExitStack() as stack:
        pids = [
            stack.enter_context(_program(programs / name, words, keys, environ, folder / f"{name}.log"))
            for name, words in ((CATALOGD, catalogd), (CONTROLLER, controller))
        ]
        yield Theirs(pids[0], pids[1], served, keys / "ca.crt")


@contextmanager
def _program(program: Path, more: Sequence[str], keys: Path, environ: Mapping[str, str], log: Path) -> Iterator[int]:
    probes = free_port()
    words = [
        "unshare", "--map-root-user", "--mount", "sh", "-c", AS_IN_A_POD, "sh", _token(program.name), NAMESPACE,
        str(program), "--leader-elect", f"--health-probe-bind-address=127.0.0.1:{probes}",
        f"--metrics-bind-address=127.0.0.1:{free_port()}", f"--tls-cert={keys / 'server.crt'}",
        f"--tls-key={keys / 'server.key'}", f"--system-namespace={NAMESPACE}", *more,
    ]  # fmt: skip
    with log.open("wb") as output:
        process = subprocess.Popen(words, env=environ, stdout=output, stderr=output)
        try:
            wait_for(lambda: _is_ready(process, probes), f"{program.name} to be ready; see {log}")
            yield process.pid
            assert process.poll() is None, f"{program.name} ended with {process.returncode}; see {log}"
        finally:
            process.terminate()
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:  # it waits for whoever still asks it
                process.kill()
                process.wait()


def _is_ready(process: subprocess.Popen[bytes], port: int) -> bool:
    assert process.poll() is None, f"it ended with {process.returncode}"
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz") as answer:
            return bool(answer.status == 200)
    except OSError:  # it does not listen yet, or says that it is not ready
        return False


def _token(account: str) -> str:
    """What says whose token it is; nobody checks it, requests are those of the kubeconfig."""
    parts = ({"alg": "none"}, {"sub": f"system:serviceaccount:{NAMESPACE}:{account}"})
    return ".".join((*(base64.urlsafe_b64encode(json.dumps(one).encode()).decode().rstrip("=") for one in parts), ""))


def _only(file: Path, folder: Path) -> Path:
    folder.mkdir()
    (folder / file.name).write_bytes(file.read_bytes())
    return folder
