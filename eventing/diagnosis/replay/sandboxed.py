"""World replay in a fresh sandbox of this process."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path

from eventing.diagnosis.replay.external_changes import stripped
from eventing.diagnosis.replay.perturbation import Perturbation
from eventing.diagnosis.replay.world import WorldReport, replay_world
from eventing.local.apiserver.direct import fresh_sandbox
from eventing.runner import Steps
from shared.adapters.kube import ApiError, KubeClient
from shared.api.crds import definitions
from shared.api.manifest import Manifest
from shared.kinds import NAMESPACE, Ref


def replay_in_sandbox(path: Path, *, perturbed: Perturbation | None = None, steps: Steps | None = None) -> WorldReport:
    """`replay_world` in a temporary sandbox that serves our kinds."""
    with closing(_sandbox()) as world, closing(_sandbox()) as scratch:
        return replay_world(path, world, perturbed=perturbed, steps=steps, stored=partial(_stored, scratch))


def _sandbox() -> KubeClient:
    world = fresh_sandbox()
    for definition in definitions():
        world.create(definition)
    return world


def _stored(scratch: KubeClient, manifest: Manifest) -> Manifest:
    """A recorded object as a sandbox of today stores it: with all of its defaults; as recorded if it is refused."""
    ref = Ref.of(manifest)
    try:
        if ref.namespace and scratch.get(NAMESPACE.ref(ref.namespace)) is None:
            scratch.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ref.namespace}})
        made = scratch.create(stripped(manifest))
    except ApiError:
        return manifest
    kept: Manifest = {key: manifest[key] for key in ("metadata", "status") if key in manifest}
    return {**{key: value for key, value in made.items() if key != "status"}, **kept}
