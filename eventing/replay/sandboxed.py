"""World replay in a fresh sandbox of this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from eventing.replay.world import Perturbation, WorldReport, replay_world
from eventing.runner import Steps
from eventing.sandbox import running_sandbox
from shared.adapters.kube import KubeClient
from shared.api.definitions import DEFINITIONS
from shared.api.schema import custom_resource_definition


def replay_in_sandbox(
    path: Path, *, perturb: Perturbation = "", seed: int = 0, steps: Steps | None = None
) -> WorldReport:
    """`replay_world` in a sandbox that serves our kinds and is gone afterwards."""
    with _fresh_sandbox() as world:
        return replay_world(path, world, perturb=perturb, seed=seed, steps=steps)


@contextmanager
def _fresh_sandbox() -> Iterator[KubeClient]:
    with TemporaryDirectory(prefix="olmf-replay-") as folder, running_sandbox(Path(folder)) as kubeconfig:
        client = KubeClient.from_kubeconfig(str(kubeconfig))
        try:
            for definition in DEFINITIONS:
                client.create(custom_resource_definition(definition))
            yield client
        finally:
            client.close()
