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
    """`olmf up` with these words and variables against the target."""
    with ExitStack() as stack:
        if target == REAL:
            words = (*words, "--kubeconfig", str(stack.enter_context(running_cluster(target, folder))))
        yield stack.enter_context(installed(folder / "olmf", *words, environ=environ))


@contextmanager
def running_cluster(target: str, folder: Path) -> Iterator[Path]:
    """A cluster where nothing of ours runs yet; yields the path of an administrator's kubeconfig."""
    plane = folder / "plane"
    plane.mkdir()
    with running_control_plane(plane) if target == REAL else running_sandbox(plane) as kubeconfig:
        yield kubeconfig
