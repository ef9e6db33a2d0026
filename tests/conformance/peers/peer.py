"""What is particular to the suite of one peer: how it is built, split, run, and what it expects of the cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from shared.adapters.kube import KubeClient
from tests.conformance.peers.images import Bundle, Catalog
from tests.conformance.peers.suite import Result, Spec
from tests.conformance.peers.world import World


@dataclass(frozen=True)
class Peer:
    """One suite."""

    report: Path
    head: str
    """How the report begins."""
    bundles: tuple[Bundle, ...]
    catalogs: tuple[Catalog, ...]
    hosts: Mapping[str, str]
    """Where images are looked for, by the prefix of their names: a path in our registry."""
    apps: tuple[str, ...]
    """The label `app` of its own programs' Pods, which lead to ours."""
    prepare: Callable[[KubeClient], AbstractContextManager[None]]
    """Make what the suite expects of every cluster, and play what it expects to work there until the end."""
    build: Callable[[Path, Path], None]
    """Build the program of a checkout."""
    specs_of: Callable[[Path, Path], list[Spec]]
    """The specs of a program and its checkout."""
    run: Callable[[Path, Path, Spec, World, Path], Result]
    """Run one spec of them in a world, with a log."""
    left_out: Mapping[str, str]
    """Why a spec is not run, by its text."""
    altered: Mapping[str, str] = field(default_factory=dict)
    """What is changed of a spec, by its text, where that is more than what it asks of the world around it."""
    causes: Mapping[str, str] = field(default_factory=dict)
    """What a spec that fails waits for, by its text."""
    alone: frozenset[str] = frozenset()
    """The files whose specs change what others need: they run one after the other."""
    specs_per_world: int = 1
    """How many specs one cluster bears at a time."""
