"""One suite, two targets: the sandbox (always), and a real API server (`pytest -m conformance`)."""

from __future__ import annotations

import os
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from eventing.local.ports import free_port
from tests.conformance.control_plane import program, running_control_plane
from tests.conformance.http import Api
from tests.conformance.targets import running_cluster
from tests.kit.sandbox import running_sandbox
from tests.kit.served_pods import a_node
from tests.kit.waiting import PATIENCE_SECONDS, wait_for

REAL = pytest.param("real", marks=pytest.mark.conformance)


@pytest.fixture(scope="session", params=["sandbox", REAL])
def api(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The kubeconfig of an administrator of the target.

    `OLMF_REAL_KUBECONFIG` names a real API server that runs already.
    """
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "sandbox":
        with running_sandbox(folder, bookmark_seconds=1) as kubeconfig:
            yield kubeconfig
    elif arguments := os.environ.get("OLMF_REAL_KUBECONFIG"):
        yield Path(arguments)
    else:
        with running_control_plane(folder) as kubeconfig:
            yield kubeconfig


@pytest.fixture(scope="session")
def http(api: Path) -> Api:
    """The target over plain HTTP."""
    return Api.of(api)


@pytest.fixture(scope="session", params=["sandbox", REAL])
def with_pods(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A target of its own with a simulated node, whose Pods the API server reaches."""
    folder = tmp_path_factory.mktemp("with-pods")
    network = f"127.0.0.1:{free_port()}" if request.param == "sandbox" else str(folder / "pods.sock")
    with running_cluster(request.param, folder, pod_network=network) as kubeconfig, a_node(kubeconfig, network):
        yield Api.of(kubeconfig)


@pytest.fixture
def word() -> str:
    """A word that no other test has."""
    return f"t{uuid.uuid4().hex[:10]}"


@pytest.fixture
def namespace(http: Api, word: str) -> str:
    """A namespace of the test's own, with the ServiceAccount that Pods get."""
    answer = http.post("/api/v1/namespaces", {"metadata": {"name": word}})
    assert answer.status == 201, answer.body
    wait_for(lambda: http.get(f"/api/v1/namespaces/{word}/serviceaccounts/default").status == 200)
    return word


class Kubectl(Protocol):
    """Runs kubectl in the namespace of the test; answers with what it printed."""

    def __call__(self, *words: str, stdin: str = "", fails: bool = False, env: dict[str, str] | None = None) -> str: ...


@pytest.fixture
def kubectl(api: Path, namespace: str, tmp_path: Path) -> Kubectl:
    """The real kubectl against the target."""
    binary = program("kubectl")

    def run(*words: str, stdin: str = "", fails: bool = False, env: dict[str, str] | None = None) -> str:
        command: list[str | Path] = [
            binary,
            f"--kubeconfig={api}",
            f"--namespace={namespace}",
            f"--cache-dir={tmp_path}/cache",
            *words,
        ]
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            env={**os.environ, **(env or {})},
        )
        assert (done.returncode != 0) is fails, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
        return str(done.stdout) + (str(done.stderr) if fails else "")

    return run
