"""One installation of ours per target: the sandbox, or a real control plane of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.conformance.control_plane import running_control_plane
from tests.kit.installation import Installation, installed
from tests.kit.sandbox import running_sandbox

SANDBOX, REAL = "sandbox", "real"


@contextmanager
def running(target: str, folder: Path, *words: str, environ: Mapping[str, str] | None = None) -> Iterator[Installation]:
    """`olmf up` with these words and variables against the target, whose API server reaches the simulated Pods."""
    with ExitStack() as stack:
        if target == REAL:
            network = str(folder / "pods.sock")
            kubeconfig = stack.enter_context(running_cluster(target, folder, pod_network=network))
            words, environ = (*words, "--kubeconfig", str(kubeconfig)), {"OLMF_POD_NETWORK": network, **(environ or {})}
        yield stack.enter_context(installed(folder / "olmf", *words, environ=environ))


@contextmanager
def running_cluster(target: str, folder: Path, *, pod_network: str = "") -> Iterator[Path]:
    """A cluster where nothing of ours runs yet; yields the path of an administrator's kubeconfig.

    Its API server reaches Pods through the proxy at `pod_network`, when there is one.
    """
    plane = folder / "plane"
    plane.mkdir()
    start = running_control_plane if target == REAL else running_sandbox
    with start(plane, pod_network=pod_network) as kubeconfig:
        yield kubeconfig
