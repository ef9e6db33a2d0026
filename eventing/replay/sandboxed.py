"""World replay in a fresh sandbox of this process."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from eventing.replay.world import Perturbation, WorldReport, replay_world
from eventing.runner import Steps
from eventing.sandbox.direct import fresh_sandbox
from shared.api.definitions import DEFINITIONS
from shared.api.schema import custom_resource_definition


def replay_in_sandbox(
    path: Path, *, perturb: Perturbation = "", seed: int = 0, steps: Steps | None = None
) -> WorldReport:
    """`replay_world` in a temporary sandbox that serves our kinds."""
    with closing(fresh_sandbox()) as world:
        for definition in DEFINITIONS:
            world.create(custom_resource_definition(definition))
        return replay_world(path, world, perturb=perturb, seed=seed, steps=steps)
