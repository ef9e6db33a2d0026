"""One installation of ours per target: the sandbox, or a real control plane of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.conformance.control_plane import running_control_plane
from tests.kit.installation import Installation, installed

SANDBOX, REAL = "sandbox", "real"


@contextmanager
def running(target: str, folder: Path, *words: str) -> Iterator[Installation]:
    """`olmf up` with these words against the target."""
    with ExitStack() as stack:
        if target == REAL:
            plane = folder / "plane"
            plane.mkdir()
            words = (*words, "--kubeconfig", str(stack.enter_context(running_control_plane(plane))))
        yield stack.enter_context(installed(folder / "olmf", *words))
